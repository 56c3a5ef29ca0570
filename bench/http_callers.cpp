#include "http_callers.hpp"

#include <charconv>
#include <stdexcept>
#include <sys/resource.h>

#include "messages.hpp"

namespace andon::bench {

http_callers::http_callers(http_client& client, std::int64_t& next_id, std::size_t count)
    : client_(&client), next_id_(&next_id), requests_(count) {
    for (auto& each : requests_) {
        each.on = &client.open();
        each.on->tag = static_cast<std::size_t>(&each - requests_.data());
        each.text = client.echo(next_id);
        each.id_at = find_id(each.text)->begin;
    }
}

http_callers::~http_callers() {
    for (auto& each : requests_) client_->close(*each.on);
}

double http_callers::call(std::int64_t calls, const std::function<void()>& midway) {
    std::int64_t sent = 0;
    std::int64_t answers = 0;
    const auto send_next = [&](request& next) {
        if (sent == calls) return;
        ++sent;
        next.id = (*next_id_)++;
        std::to_chars(next.text.data() + next.id_at, next.text.data() + next.text.size(), next.id);
        client_->send(*next.on, next.text);
    };
    client_->on_response([&](http_connection& from) {
        auto& answered = requests_[from.tag];
        const auto body = from.response.body();
        const auto id = find_id(body);
        if (from.response.status() != 200 || !id || id->id != answered.id) {
            throw std::runtime_error("not the answer to call " + std::to_string(answered.id) + ": " +
                                     std::string(from.response.beginning()));
        }
        expect_echo(body);
        if (++answers == calls / 2 && midway) midway();
        send_next(answered);
    });
    const auto begun = now_ns();
    for (auto& each : requests_) send_next(each);
    client_->wait_for(std::to_string(calls) + " calls", 60, [&] { return answers == calls; });
    const auto seconds = static_cast<double>(now_ns() - begun) / 1e9;
    client_->on_response({});
    return seconds;
}

void raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace andon::bench
