#include "sse_callers.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "messages.hpp"

namespace andon::bench {

sse_session::sse_session(http_client& client) : client_(&client), stream_(&client.open()) {
    client.on_stream([this](http_connection& from) { take(from.response.drain()); });
    std::string endpoint;
    on_message([&](std::string_view data) { endpoint = data; });
    stream_->streams = true;
    request_ = client.get("/sse");
    client.send(*stream_, request_);
    client.wait_for("the address to post to", 30, [&] { return !endpoint.empty(); });
    client.post_to(endpoint);
    post("initialize", initialize_request, true);
    post("initialized", initialized_notification, false);
    client.speak_legacy();
}

sse_session::~sse_session() {
    client_->on_stream({});
    client_->close(*stream_);
}

void sse_session::post(const std::string& what, std::string_view message, bool answered) {
    bool done = !answered;
    on_message([&](std::string_view data) { done = done || !revision_in(data).empty(); });
    const auto accepted = client_->exchange(what + " to be accepted", client_->post("", message));
    if (accepted.status() != 202) client_->fail(what + " was not accepted: " + std::string(accepted.beginning()));
    client_->wait_for("the answer to " + what, 30, [&] { return done; });
    on_message({});
}

void sse_session::take(std::string_view bytes) {
    constexpr std::string_view name = "data: ";
    unfinished_.append(bytes);
    std::size_t begin = 0;
    for (auto end = unfinished_.find('\n'); end != std::string::npos; end = unfinished_.find('\n', begin)) {
        const auto line = std::string_view(unfinished_).substr(begin, end - begin);
        if (line.starts_with(name) && message_) message_(line.substr(name.size()));
        begin = end + 1;
    }
    unfinished_.erase(0, begin);
}

sse_callers::sse_callers(sse_session& in, std::size_t count) : in_(&in), requests_(count) {
    for (auto& each : requests_) {
        each.on = &in.client().open();
        each.on->tag = static_cast<std::size_t>(&each - requests_.data());
        each.text = in.client().echo(in.next_id);
        each.id_at = find_id(each.text)->begin;
    }
}

sse_callers::~sse_callers() {
    for (auto& each : requests_) in_->client().close(*each.on);
}

double sse_callers::call(std::int64_t calls, const std::function<void()>& midway) {
    std::int64_t sent = 0;
    std::int64_t answers = 0;
    const auto send_next = [&](request& next) {
        if (sent == calls) return;
        ++sent;
        next.accepted = next.answered = false;
        next.id = in_->next_id++;
        std::to_chars(next.text.data() + next.id_at, next.text.data() + next.text.size(), next.id);
        in_->client().send(*next.on, next.text);
    };
    const auto over = [&](request& which) {
        if (!which.accepted || !which.answered) return;
        if (++answers == calls / 2 && midway) midway();
        send_next(which);
    };
    in_->client().on_response([&](http_connection& from) {
        auto& which = requests_[from.tag];
        if (from.response.status() != 202) throw std::runtime_error("a call was not accepted");
        which.accepted = true;
        over(which);
    });
    in_->on_message([&](std::string_view data) {
        const auto id = find_id(data);
        const auto which = std::find_if(requests_.begin(), requests_.end(),
                                        [&](const request& each) { return id && each.id == id->id; });
        if (which == requests_.end() || which->answered) throw std::runtime_error("not the answer to a call");
        expect_echo(data);
        which->answered = true;
        over(*which);
    });
    const auto begun = now_ns();
    for (auto& each : requests_) send_next(each);
    in_->client().wait_for(std::to_string(calls) + " calls", 60, [&] { return answers == calls; });
    const auto seconds = static_cast<double>(now_ns() - begun) / 1e9;
    in_->client().on_response({});
    in_->on_message({});
    return seconds;
}

}  // namespace andon::bench
