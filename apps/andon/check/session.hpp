// One conversation with the server under test, every byte of it in the probe's hand.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/time.hpp"
#include "andon/wire/revision.hpp"
#include "check/process_view.hpp"

namespace andon::check {

namespace json = boost::json;
using std::chrono::milliseconds;

/// The server went away, or cannot be reached. what() is evidence, safe to show.
class server_gone : public std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// It is there, and did not answer what any server answers.
class server_hangs : public std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// It does not speak the era that was asked for.
class not_spoken : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A message of the server.
struct heard {
    json::object message;
    time_point at;
    std::string on;  ///< over HTTP: the id of the request on whose stream it came, as JSON; else empty
};

/// A message of ours. Ids are JSON already, so that a probe says exactly which bytes go over the wire.
struct outgoing {
    std::string text;
    std::string method{};
    std::string name{};    ///< of the tool, or the id of the task: for the header Mcp-Name
    std::string raw_id{};  ///< empty: a notification or an answer
};

struct session_options {
    revision speaks = newest_legacy;
    bool tasks_extension = false;          ///< modern: declared with every request
    milliseconds patience{5000};           ///< for an answer that any server gives at once
    milliseconds handshake{15'000};        ///< for the first answer: it may have to be installed, loaded, compiled
    time_point until = time_point::max();  ///< then the probe has had its time
};

struct call_options {
    bool progress = true;
    bool task = false;  ///< 2025-11-25: as a task
};

class session {
public:
    explicit session(session_options how) : how_(how) {}
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    virtual ~session() = default;

    [[nodiscard]] bool modern() const noexcept { return era_of(how_.speaks) == era::modern; }
    [[nodiscard]] revision speaks() const noexcept { return how_.speaks; }
    [[nodiscard]] milliseconds patience() const noexcept { return how_.patience; }
    [[nodiscard]] virtual bool over_http() const noexcept = 0;
    /// What the server said of itself: the result of `initialize` or `server/discover`.
    [[nodiscard]] const json::object& hello() const noexcept { return hello_; }
    [[nodiscard]] json::object capabilities() const;

    /// The handshake. Throws not_spoken.
    void open();

    // What goes out.

    void request(std::string_view raw_id, std::string_view method, json::object params = {}, json::object meta = {});
    void call(std::string_view raw_id, std::string_view tool, json::object arguments, call_options how = {});
    /// In the way that the transport and the revision have for it.
    virtual void cancel(std::string_view raw_id, std::optional<std::string> reason = {});
    /// Any `params` as they are, in `notifications/cancelled`; empty: without any.
    void notify_cancelled(std::string_view raw_params);
    /// As it is.
    virtual void write(const outgoing& message) = 0;
    [[nodiscard]] std::string fresh_id() { return std::to_string(1000 + ++ids_); }

    // What comes in.

    [[nodiscard]] const std::deque<heard>& all() const noexcept { return all_; }
    /// Until it is so, or the time is over. Throws server_gone where it cannot become so any more.
    bool wait(const std::function<bool()>& done, milliseconds limit);
    /// Listens for that long.
    void listen(milliseconds time) {
        wait([] { return false; }, time);
    }
    /// Listens until it ends: the answer, or nothing where it does not come in time.
    [[nodiscard]] const json::object* answer(std::string_view raw_id, milliseconds limit);
    /// The same, of a request that any server answers at once. Throws server_hangs.
    json::object ask(std::string_view method, json::object params = {});
    /// Everything that was sent before has been read, and the server is alive. Throws server_hangs.
    void fence();

    [[nodiscard]] std::vector<const heard*> answers(std::string_view raw_id, time_point since = {}) const;
    [[nodiscard]] std::vector<const heard*> progress(std::string_view raw_id, time_point since = {}) const;
    [[nodiscard]] std::vector<const heard*> notifications(std::string_view method, time_point since = {}) const;
    /// Requests of the server. Those that it makes are answered, unless `holds_questions`.
    [[nodiscard]] std::vector<const heard*> questions(time_point since = {}) const;
    void answer_question(const json::object& question);
    bool holds_questions = false;

    // What else can be seen.

    /// Nothing where the processes cannot be seen.
    [[nodiscard]] virtual std::optional<process_view> processes() const = 0;
    /// What it wrote to standard error so far, where that can be seen.
    [[nodiscard]] virtual std::optional<std::string> log() const = 0;
    /// Over HTTP: whether the stream of that request is over.
    [[nodiscard]] virtual bool stream_ended(std::string_view /*raw_id*/) const { return false; }
    /// And what it ended with, in words.
    [[nodiscard]] virtual std::string refusal(std::string_view /*raw_id*/) const { return {}; }
    /// What the next evidence of trouble has to say, with the last lines of the log.
    [[nodiscard]] std::string last_words() const;

protected:
    /// Takes in what has come, waiting no longer than `limit` for something. False: nothing comes any more.
    virtual bool pump(milliseconds limit) = 0;
    [[nodiscard]] virtual std::string why_gone() = 0;
    void take(std::string_view text, const std::string& on);
    [[nodiscard]] const session_options& how() const noexcept { return how_; }

private:
    [[nodiscard]] json::object meta() const;

    session_options how_;
    json::object hello_;
    std::deque<heard> all_;
    std::size_t bytes_ = 0;
    int ids_ = 0;
};

/// `7` or `"seven"` as a value.
[[nodiscard]] json::value id_of(std::string_view raw_id);
/// The code of an error answer; 0 for a result.
[[nodiscard]] int code_of(const json::object& answer);
[[nodiscard]] const json::object* result_of(const json::object& answer);
/// A few words on an answer: `a result`, `the error -32601 "Method not found"`.
[[nodiscard]] std::string in_words(const json::object& answer);
/// From `root`, by names; null where there is no such thing.
[[nodiscard]] const json::value* find(const json::object& root, std::initializer_list<std::string_view> path);
[[nodiscard]] std::string text_at(const json::object& root, std::initializer_list<std::string_view> path);

}  // namespace andon::check
