#include "stdio_client.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

#include "messages.hpp"

namespace andon::bench {

stdio_client::stdio_client(server_process& server, waiting how)
    : server_(&server), how_(how), output_(server.output()), errors_(server) {}

std::string stdio_client::initialize() {
    static const std::string request = std::string(initialize_request) + "\n";
    static const std::string initialized = std::string(initialized_notification) + "\n";
    std::string revision;
    on_response([&](const response& answer) {
        if (answer.id == 0) revision = revision_in(answer.line);
        if (revision.empty()) errors_.fail("no answer to initialize: " + std::string(answer.line.substr(0, 300)));
    });
    send(request);
    wait_for("the answer to initialize", 30, [&] { return !revision.empty(); });
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
            errors_.fail(std::string("writing to the server: ") + std::strerror(errno));
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
    if (fds[1].revents != 0) errors_.read();
    if (writing) write_some();
    if (out == line_reader::result::end) errors_.fail("the server closed its output");
}

void stdio_client::wait_for(const std::string& what, double seconds, const std::function<bool()>& done) {
    const auto deadline = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    while (!done()) {
        step();
        if (now_ns() > deadline) errors_.fail("waited " + std::to_string(std::lround(seconds)) + " s for " + what);
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
    const auto found = find_id(line);
    if (!found) return;
    before_id_ = line.substr(0, found->begin);
    after_id_ = line.substr(found->end);
    response_({.id = found->id, .line = line, .familiar = false});
}

}  // namespace andon::bench
