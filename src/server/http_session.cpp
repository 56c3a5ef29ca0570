#include "server/http_session.hpp"

#include <charconv>
#include <chrono>

#include "transport/clock.hpp"
#include "wire/unguessable.hpp"

namespace andon::detail {

/// The server's way out where it was not asked: the stream of a GET.
class http_session::outlet_transport final : public transport {
public:
    outlet_transport(std::shared_ptr<message_stream> stream, std::shared_ptr<crowd> of)
        : stream_(std::move(stream)), crowd_(std::move(of)) {}
    ~outlet_transport() override { crowd_->told = nullptr; }

    void open(event_loop& /*loop*/, events& to) override { crowd_->told = &to; }
    bool send(std::string_view line, const cancel_token* owner) override { return stream_->send(line, owner); }
    void close() override {
        crowd_->told = nullptr;
        stream_->no_answer();
    }

private:
    std::shared_ptr<message_stream> stream_;
    std::shared_ptr<crowd> crowd_;
};

/// One that is too slow is enough: what comes for it cannot be told from the rest before it is read.
void http_session::crowd::change(bool crowded) {
    const bool before = streams != 0;
    crowded ? ++streams : --streams;
    if ((streams != 0) != before && told != nullptr) told->on_crowded(crowded);
}

void http_session::watch_crowd(message_stream& stream) const {
    stream.when_crowded([crowd = crowd_](bool crowded) { crowd->change(crowded); });
}

std::string new_session_id() { return unguessable_name(24); }

http_session::http_session(event_loop& loop, std::string id, std::string principal, const http_options& options,
                           std::shared_ptr<kept_budget> kept)
    : loop_(&loop),
      id_(std::move(id)),
      principal_(std::move(principal)),
      options_(&options),
      kept_(std::move(kept)),
      active_(now()),
      idle_(loop) {
    own_ = message_stream::make(loop, resumable({.of_session = true, .wants_json = false}, 0));
    watch_crowd(*own_);
}

message_stream_settings http_session::resumable(message_stream_settings settings, std::uint64_t number) const {
    settings.keep_bytes = options_->limits.kept;
    settings.kept_by_all = kept_;
    if (options_->resumable) settings.event_prefix = std::to_string(number) + '-';
    return settings;
}

std::unique_ptr<transport> http_session::outlet() { return std::make_unique<outlet_transport>(own_, crowd_); }

std::shared_ptr<message_stream> http_session::new_stream(message_stream_settings settings,
                                                         std::function<void()> when_over) {
    const std::uint64_t number = next_++;
    auto stream = message_stream::make(*loop_, resumable(std::move(settings), number));
    watch_crowd(*stream);
    ++live_;
    streams_.emplace(number, stream);
    // A handler that does not look at its cancel keeps the stream longer than the session lives.
    stream->when_over([weak = weak_from_this(), number, when_over = std::move(when_over)] {
        if (const auto self = weak.lock()) self->stream_over(number);
        when_over();
    });
    return stream;
}

void http_session::stream_over(std::uint64_t number) {
    --live_;
    active_ = now();
    const auto found = streams_.find(number);
    if (found == streams_.end()) return;
    if (found->second->kept_bytes() == 0) {
        // Not here: the stream itself is at work.
        loop_->post([stream = std::move(found->second)] {});
        streams_.erase(found);
        return;
    }
    ended_.push_back(number);
    if (ended_.size() <= options_->limits.kept_streams) return;
    streams_.erase(ended_.front());
    ended_.pop_front();
}

bool http_session::resume(http_connection& listener, std::string_view last_event_id) {
    const std::size_t dash = last_event_id.find('-');
    std::uint64_t stream = 0;
    std::uint64_t seen = 0;
    const auto number = [](std::string_view text, std::uint64_t& into) {
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
        return !text.empty() && failed == std::errc() && end == text.data() + text.size();
    };
    if (dash == std::string_view::npos || !number(last_event_id.substr(0, dash), stream) ||
        !number(last_event_id.substr(dash + 1), seen)) {
        return false;
    }
    if (stream == 0) return own_->resume(listener, seen);
    const auto found = streams_.find(stream);
    return found != streams_.end() && found->second->resume(listener, seen);
}

void http_session::cut_off(std::string_view how) const {
    constexpr std::size_t shown = 8;  // of the id, which is a secret
    if (crowd_->told == nullptr) return;
    crowd_->told->on_remark(log_level::warning, "session " + id_.substr(0, shown) + ": the client " + std::string(how) +
                                                    " and was cut off: what it missed is kept, if it comes back");
}

void http_session::touch() noexcept { active_ = now(); }

void http_session::expire_when_idle(std::function<void()> work) {
    when_idle_ = std::move(work);
    look_for_idleness();
}

void http_session::look_for_idleness() {
    if (live_ != 0 || own_->listened_to()) active_ = now();
    const time_point due = active_ + options_->limits.idle_session;
    if (due <= now()) {
        const auto work = std::move(when_idle_);
        return work();
    }
    idle_.set(due, [this] { look_for_idleness(); });
}

void http_session::end() {
    idle_.clear();
    for (const auto& [number, stream] : std::exchange(streams_, {})) stream->no_answer();
    own_->no_answer();
}

}  // namespace andon::detail
