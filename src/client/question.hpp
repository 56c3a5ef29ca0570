// A question of the server's, while somebody thinks about the answer (up to 2025-11-25).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "andon/core/cancel_callback.hpp"
#include "client/client_session.hpp"

namespace andon::detail {

/// Deletes itself when it is over. As on the server's side, the request's word decides between the answer and silence.
class question final : public turn {
public:
    question(std::shared_ptr<client_session> in, incoming_request request, std::string raw_id, json::object params,
             const question_handler& handler);
    void dispatch();

private:
    ~question() = default;
    void begin() noexcept override;
    void end(std::string_view line) noexcept;
    void on_cancel() noexcept;
    void log_cancel() noexcept;

    struct cancelled {
        question* self;
        void operator()() const noexcept { self->on_cancel(); }
    };

    std::shared_ptr<client_session> session_;
    incoming_request incoming_;
    std::string raw_id_;
    json::object params_;
    question_handler handler_;
    cancel_token token_;
    bool logged_ = false;
    std::optional<cancel_callback<cancelled>> callback_;
};

}  // namespace andon::detail
