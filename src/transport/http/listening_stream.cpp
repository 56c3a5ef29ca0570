#include "transport/http/listening_stream.hpp"

#include <chrono>

#include "transport/http/http_client_transport.hpp"

namespace andon::detail {

listening_stream::listening_stream(http_client_transport& over)
    : over_(&over), cursor_(over.longest_line()), timer_(over.loop()) {
    connect();
}

listening_stream::~listening_stream() {
    *alive_ = false;
    if (exchange_) exchange_->abandon();
}

void listening_stream::connect() {
    exchange_ = over_->pool().start(
        {.bytes = over_->writer().get(over_->session(), cursor_.last_id()), .in = exchange::lane::apart}, *this);
}

void listening_stream::pause() {
    timer_.set(std::chrono::steady_clock::now() + cursor_.pause(), [this] { connect(); });
}

void listening_stream::stop(const std::string& why) {
    exchange_->abandon();
    over_->remark(log_level::debug, "nobody listens to what the server says unasked: " + why);
}

void listening_stream::on_head(const response_reader& response) {
    over_->listening_settled();
    if (response.status() == 200 && response.media_type() == "text/event-stream") {
        over_->listening_works();
        return cursor_.connected();
    }
    const std::string status = "HTTP " + response.status_text();
    if (response.status() == 404 && !over_->session().id.empty()) {
        stop(status);
        return over_->listening_refused();  // which may be our end
    }
    if (response.status() < 500) return stop(status);
    exchange_->abandon();
    on_lost(status);
}

void listening_stream::on_body(std::string_view piece) {
    const auto alive = alive_;
    while (auto data = cursor_.next(piece)) {
        const padded_line line(std::move(*data));
        receive(line.text());
        if (!*alive) return;
    }
    if (cursor_.take_failure()) {
        over_->remark(log_level::warning, "what the server said unasked was skipped: an event of more than " +
                                              std::to_string(over_->longest_line()) + " bytes");
    }
}

/// Answers have no place here: each comes on the stream of its request.
void listening_stream::receive(std::string_view line) {
    const bool batch = envelope_reader::looks_like_batch(line);
    const envelope* const found = batch ? nullptr : over_->reader().read(line);
    const bool answer = found != nullptr ? found->kind == message_kind::result || found->kind == message_kind::error
                                         : !batch && over_->reader().fault().answer;
    if (answer) {
        return over_->remark(log_level::debug, "an answer came on the stream that has none");
    }
    over_->hand_over(line);
}

void listening_stream::on_end() {
    cursor_.ended();
    pause();
}

void listening_stream::on_lost(std::string_view why) {
    over_->remark(log_level::debug, "the stream of what the server says unasked broke: " + std::string(why));
    cursor_.missed();
    pause();
    over_->listening_settled();
}

}  // namespace andon::detail
