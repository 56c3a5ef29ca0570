// One request of a server to its host, such as sampling or elicitation (up to 2025-11-25), on its way there and back.
#pragma once

#include <memory>
#include <string>

#include "gateway/relay/upstream.hpp"
#include "transport/conversation.hpp"

namespace andon::gateway {

/// Ends the stream of a call when the last who has it lets go of it.
class stream_end {
public:
    explicit stream_end(std::shared_ptr<reply_path> of) : of_(std::move(of)) {}
    ~stream_end() { of_->no_answer(); }
    stream_end(const stream_end&) = delete;
    stream_end& operator=(const stream_end&) = delete;

private:
    std::shared_ptr<reply_path> of_;
};

/// The same tree as with a call, the other way round: the server's cancel of its question reaches the host by it, and
/// so does the end of the server.
class relayed_question final : public detail::raw_listener, public std::enable_shared_from_this<relayed_question> {
public:
    relayed_question(std::shared_ptr<upstream> from, std::shared_ptr<detail::conversation> host,
                     detail::incoming_request request, const envelope& message);

    /// `id`: for the host. `via`: the stream of the call that it belongs to, where that is known.
    void send(std::int64_t id, std::shared_ptr<reply_path> via);

    /// Whether it can still be taken back: the host has not answered it.
    [[nodiscard]] bool is_open() const noexcept { return !over_; }
    /// The host cancelled the call that it came with: that stream ends with us, behind whatever we have to say on it.
    void keep_open(std::shared_ptr<const stream_end> stream) { stream_ = std::move(stream); }
    void let_go_of_stream() noexcept { stream_.reset(); }

private:
    void on_progress(const envelope& message) override;
    void on_answer(const envelope& message) override;
    void on_ended(const envelope& /*message*/) override {}
    void on_given_up(const call_outcome& outcome) override;
    void answer(std::string_view line);

    std::shared_ptr<upstream> from_;
    std::shared_ptr<detail::conversation> host_;
    detail::incoming_request in_;
    cancel_token token_;
    std::string raw_id_;
    std::string method_;
    std::string raw_token_;
    std::string raw_params_;
    std::size_t token_at_ = 0;
    bool over_ = false;
    std::shared_ptr<const stream_end> stream_;
};

}  // namespace andon::gateway
