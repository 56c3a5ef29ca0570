// Any bytes as what clients of a server send over HTTP, on one connection or on several, one after the other: the same
// answers at any split, every answer well formed, and nothing left when the clients are gone.
#include "server/http_front.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "require.hpp"
#include "server/server_session.hpp"

namespace {

using namespace andon;
using andon::fuzz::require;

/// A server without a thread, a clock or a network: what is sent is dealt with when we say so.
class served final : private detail::http_service {
public:
    served()
        : facilities_(std::make_shared<detail::server_facilities>(server_options{.name = "fuzzed", .log = {}})),
          front_(facilities_->around, options(), {}) {
        front_.add(*this, "/mcp");
        auto echo = std::make_shared<detail::handler_entry>();
        echo->name = "echo";
        echo->listing = {{"name", "echo"}, {"inputSchema", {{"type", "object"}}}};
        echo->run = detail::handler_from<tool_result>([](json::object given, call& call) -> async<std::string> {
            call.progress(1);
            co_return json_text(given);
        });
        facilities_->offers.add(std::move(echo));
        auto park = std::make_shared<detail::handler_entry>();
        park->name = "park";
        park->listing = {{"name", "park"}, {"inputSchema", {{"type", "object"}}}};
        park->run = detail::handler_from<tool_result>([](json::object, call& call) -> async<std::string> {
            co_await call.async_cancelled();
            co_return "";
        });
        facilities_->offers.add(std::move(park));
        on_loop([&] { front_.start(); });
    }
    ~served() override {
        on_loop([&] { front_.leave("over"); });
        on_loop([&] { front_.close_connections(); });
        require(facilities_->live_calls == 0, "every call has ended");
        require(facilities_->around->table.size() == 0, "nothing is left in the table");
    }

    /// What one connection is answered that sends this, in pieces whose sizes go round in `sizes`.
    std::string answers(std::string_view bytes, std::string_view sizes) {
        std::array<int, 2> ends{-1, -1};
        require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0, "a connection");
        on_loop([&] { front_.take(ends[0], "127.0.0.1"); });
        std::string all;
        for (std::size_t i = 0; !bytes.empty(); ++i) {
            const std::size_t wanted =
                sizes.empty() ? bytes.size() : 1U + static_cast<unsigned char>(sizes[i % sizes.size()]);
            const ssize_t wrote = ::send(ends[1], bytes.data(), std::min(wanted, bytes.size()), MSG_NOSIGNAL);
            facilities_->around->loop.finish();
            read(ends[1], all);
            if (wrote < 0) break;  // it hung up, as it may
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
        }
        ::close(ends[1]);
        facilities_->around->loop.finish();
        return all;
    }

private:
    [[nodiscard]] detail::conversation::surroundings& around() noexcept override { return *facilities_->around; }
    [[nodiscard]] const limits& bounds() const noexcept override { return bounds_; }
    [[nodiscard]] std::shared_ptr<guest> open(std::unique_ptr<transport> over, std::string_view id,
                                              std::function<void()> /*ended*/) override {
        auto session = std::make_shared<detail::server_session>(
            facilities_, std::move(over), [] {}, id.empty());
        session->open();
        return session;
    }

    static http_options options() {
        http_options given;
        given.limits.body = 4'096;
        return given;
    }
    template <class F>
    void on_loop(F f) {
        facilities_->around->loop.post(f);
        facilities_->around->loop.finish();
    }
    static void read(int fd, std::string& into) {
        std::array<char, 16'384> bytes;  // NOLINT: read() fills it
        for (ssize_t got = 0; (got = ::read(fd, bytes.data(), bytes.size())) > 0;) {
            into.append(bytes.data(), static_cast<std::size_t>(got));
        }
    }

    limits bounds_{};
    std::shared_ptr<detail::server_facilities> facilities_;
    detail::http_front front_;
};

/// Session ids are the only thing about an answer that is another each time.
std::string without_session_ids(std::string answers) {
    constexpr std::string_view name = "Mcp-Session-Id: ";
    for (std::size_t at = 0; (at = answers.find(name, at)) != std::string::npos; at += name.size()) {
        answers.erase(at + name.size(), answers.find("\r\n", at) - at - name.size());
    }
    return answers;
}

/// What several connections are answered, one after the other. The id of the first session that is made is put where
/// the later ones name it, as `@`.
std::string talk(std::string_view bytes, std::string_view sizes) {
    constexpr std::string_view next = "\n--next--\n";
    served server;
    std::string session;
    std::string all;
    for (bool more = true; more;) {
        const std::size_t end = bytes.find(next);
        std::string sent(bytes.substr(0, end));
        more = end != std::string_view::npos;
        if (more) bytes.remove_prefix(end + next.size());
        for (std::size_t at = 0; !session.empty() && (at = sent.find('@', at)) != std::string::npos;) {
            sent.replace(at, 1, session);
            at += session.size();
        }
        const std::string answered = server.answers(sent, sizes);
        if (const std::size_t at = answered.find("Mcp-Session-Id: "); session.empty() && at != std::string::npos) {
            session = answered.substr(at + 16, answered.find("\r\n", at) - at - 16);
        }
        require(answered.empty() || answered.compare(0, 9, "HTTP/1.1 ") == 0, "an answer is one of HTTP");
        all += without_session_ids(answered);
        all += next;
    }
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    constexpr std::size_t longest = 8'192;
    if (size < 4 || size > longest) return 0;
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::string_view sizes = all.substr(0, 3);
    const std::string_view bytes = all.substr(3);
    const std::string whole = talk(bytes, {});
    require(whole == talk(bytes, sizes), "the same answers at any split");
    require(whole.size() <= std::size_t{200} * longest, "an answer is not much larger than what was asked");
    return 0;
}
