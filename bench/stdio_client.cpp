#include "stdio_client.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

namespace andon::bench {
namespace {

bool read_number(std::string_view digits, std::int64_t& number) {
    const char* end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, number);
    return error == std::errc{} && stopped == end;
}

// The revisions are named by their dates.
std::string_view first_date(std::string_view text) {
    const auto begin = text.find("20");
    return begin == std::string_view::npos ? "" : text.substr(begin, std::string_view("2025-11-25").size());
}

std::string call(std::int64_t id, std::string_view tool, std::string_view argument, std::string_view value) {
    std::string line = R"({"jsonrpc":"2.0","id":)" + std::to_string(id);
    line.append(R"(,"method":"tools/call","params":{"name":")").append(tool).append(R"(","arguments":{")");
    line.append(argument).append(R"(":")").append(value).append("\"}}}\n");
    return line;
}

}  // namespace

std::string echo_call(std::int64_t id, std::string_view text) { return call(id, "echo", "text", text); }

std::string park_call(std::int64_t id) { return call(id, "park", "key", std::to_string(id)); }

std::string cancel(std::int64_t id) {
    return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) +
           ",\"reason\":\"Stop\"}}\n";
}

stdio_client::stdio_client(server_process& server, waiting how)
    : server_(&server), how_(how), output_(server.output()), errors_(server.errors()) {}

std::string stdio_client::initialize() {
    static constexpr std::string_view request =
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"stdio_bench","version":"1"}}})"
        "\n";
    static constexpr std::string_view initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    std::string revision;
    on_response([&](const response& answer) {
        const auto at = answer.line.find("\"protocolVersion\"");
        if (answer.id == 0 && at != std::string_view::npos) revision = first_date(answer.line.substr(at));
        if (revision.empty()) fail("no answer to initialize: " + std::string(answer.line.substr(0, 300)));
    });
    send(request);
    wait_for("the answer to initialize", 30, [&] { return !revision.empty(); });
    if (revision != "2025-11-25" && revision != "2025-06-18") fail("initialize came back with revision " + revision);
    on_response({});
    send(initialized);
    return revision;
}

void stdio_client::send(std::string_view lines) {
    if (unwritten_.empty()) {
        unwritten_ = lines;
    } else if (unwritten_.data() + unwritten_.size() == lines.data()) {
        unwritten_ = {unwritten_.data(), unwritten_.size() + lines.size()};
    } else {
        throw std::logic_error("two pieces of output at once");
    }
    write_some();
}

void stdio_client::write_some() {
    while (!unwritten_.empty()) {
        const auto wrote = ::write(server_->input(), unwritten_.data(), unwritten_.size());
        if (wrote < 0) {
            if (errno == EAGAIN || errno == EINTR) return;
            fail(std::string("writing to the server: ") + std::strerror(errno));
        }
        unwritten_.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

// Awake, too, it asks poll() and not read(): a read of an empty pipe takes the lock that the server needs to write.
void stdio_client::step() {
    const bool writing = !unwritten_.empty();
    pollfd fds[] = {{output_.fd(), POLLIN, 0}, {errors_.fd(), POLLIN, 0}, {server_->input(), POLLOUT, 0}};
    ::poll(fds, writing ? 3 : 2, how_ == waiting::asleep ? 100 : 0);
    auto out = line_reader::result::nothing;
    if (fds[0].revents != 0) out = output_.read([this](std::string_view line) { take_response(line); });
    if (fds[1].revents != 0) errors_.read([this](std::string_view line) { take_error_line(line); });
    if (writing) write_some();
    if (out == line_reader::result::end) fail("the server closed its output");
}

void stdio_client::wait_for(const std::string& what, double seconds, const std::function<bool()>& done) {
    const auto deadline = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    while (!done()) {
        step();
        if (now_ns() > deadline) fail("waited " + std::to_string(std::lround(seconds)) + " s for " + what);
    }
}

// The answers to echo differ in nothing but their ids. Looking for the id in each would cost the driver more than all
// else that it does.
void stdio_client::take_response(std::string_view line) {
    if (!response_) return;
    std::int64_t id = 0;
    if (!before_id_.empty() && line.starts_with(before_id_) && line.ends_with(after_id_) &&
        line.size() > before_id_.size() + after_id_.size() &&
        read_number(line.substr(before_id_.size(), line.size() - before_id_.size() - after_id_.size()), id)) {
        return response_({.id = id, .line = line, .familiar = true});
    }
    // The server's own notifications and requests are none of our concern.
    if (line.find("\"method\":") != std::string_view::npos) return;
    // No text that we send holds such a name: the first is the envelope's.
    constexpr std::string_view name = "\"id\":";
    const auto at = line.find(name);
    if (at == std::string_view::npos) return;
    const auto begin = line.find_first_not_of(' ', at + name.size());
    const auto end = line.find_first_not_of("0123456789", begin);
    if (end == std::string_view::npos || !read_number(line.substr(begin, end - begin), id)) return;
    before_id_ = line.substr(0, begin);
    after_id_ = line.substr(end);
    response_({.id = id, .line = line, .familiar = false});
}

void stdio_client::take_error_line(std::string_view line) {
    const bool cancelled = line.starts_with("@cancel ");
    if (!cancelled && !line.starts_with("@start ")) {
        last_words_.append(line).append("\n");
        if (last_words_.size() > 2000) last_words_.erase(0, last_words_.size() - 2000);
        return;
    }
    if (!mark_) return;
    mark said{.cancelled = cancelled, .key = 0, .at = 0};
    const auto key = line.find(' ') + 1;
    const auto at = line.rfind(' ') + 1;
    if (at <= key || !read_number(line.substr(key, at - 1 - key), said.key) || !read_number(line.substr(at), said.at)) {
        fail("a mark that is not '@start KEY NS' or '@cancel KEY NS': " + std::string(line));
    }
    mark_(said);
}

void stdio_client::fail(const std::string& what) {
    // What the server has to say is on its way, or not: a fifth of a second will do.
    const auto deadline = now_ns() + 200'000'000;
    const auto keep = [this](std::string_view line) {
        if (!line.starts_with("@")) last_words_.append(line).append("\n");
    };
    while (now_ns() < deadline && errors_.read(keep) != line_reader::result::end) ::usleep(1000);
    std::string message = what + " (" + server_->how_it_ended() + ")";
    if (!last_words_.empty()) {
        last_words_.pop_back();  // a reason is one line
        std::replace(last_words_.begin(), last_words_.end(), '\n', ' ');
        message += ", its stderr ends: " + last_words_;
    }
    throw std::runtime_error(message);
}

}  // namespace andon::bench
