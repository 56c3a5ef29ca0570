// Tasks on the client's side: questions of the server's that outlive their request (2025-11-25).
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "andon/client/client.hpp"
#include "andon/core/cancel_callback.hpp"
#include "andon/tasks/task_store.hpp"
#include "transport/conversation.hpp"

namespace andon::detail {

class client_session;

/// What a server asks with `task` is answered with a task at once; the server looks at it, waits for its result or
/// cancels it. They live as long as the session. On the loop's thread, but for the thinking.
class hosted_tasks {
public:
    explicit hosted_tasks(client_session& in) noexcept : session_(&in) {}
    hosted_tasks(const hosted_tasks&) = delete;
    hosted_tasks& operator=(const hosted_tasks&) = delete;

    /// `capabilities.tasks` of a client with these handlers; empty: none.
    [[nodiscard]] static json::object declared_by(const client_options& options);

    /// Whether that request is one for here; then it was answered, or will be.
    [[nodiscard]] bool take(incoming_request& request, const envelope& message);
    /// The session has ended: nobody waits any more.
    void end();

private:
    /// A `tasks/result` that waits.
    struct waiting {
        incoming_request request;
        std::string raw_id;
        struct cancelled {
            hosted_tasks* self;
            waiting* one;
            void operator()() const noexcept { self->give_up(*one); }
        };
        std::optional<cancel_callback<cancelled>> callback{};
        std::string task{};
    };
    struct hosted {
        task_record record;
        active_request work;
        cancel_token token;
        std::list<std::unique_ptr<waiting>> waiting_for{};
    };
    class thinking;

    void create(incoming_request& request, const envelope& message, const question_handler& handler);
    [[nodiscard]] hosted& find(const json::object& params);
    [[nodiscard]] std::string get(const json::object& params);
    [[nodiscard]] std::string list(const json::object& params) const;
    [[nodiscard]] std::string cancel(const json::object& params);
    void result(incoming_request& request, const envelope& message);
    void over(const std::string& id, task_status status, std::string raw_result, std::string raw_error);
    void decide(hosted& task, task_status status, std::string message);
    void answer(incoming_request request, std::string_view line, int code = 0);
    void answer_result(incoming_request request, std::string_view raw_id, const task_record& of);
    void give_up(waiting& one) noexcept;
    void forget_expired();

    client_session* session_;
    std::unordered_map<std::string, hosted> all_;
};

}  // namespace andon::detail
