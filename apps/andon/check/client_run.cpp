#include "check/client_run.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "andon/process/process_tree.hpp"
#include "andon/wire/line_splitter.hpp"
#include "check/client_http.hpp"
#include "check/client_watch.hpp"
#include "check/stdio_session.hpp"
#include "wire/unguessable.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t longest_line = std::size_t{16} << 20U;

/// Until something is due, and no longer than that.
int wait_time(const client_watch& watch) {
    const auto next = watch.next_tick();
    if (!next) return 1000;
    const auto left = std::chrono::ceil<milliseconds>(*next - clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
}

bool write_line(int fd, const std::string& line) {
    for (std::string_view left = line; !left.empty();) {
        const ssize_t wrote = ::write(fd, left.data(), left.size());
        if (wrote < 0 && errno != EINTR) return false;
        left.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
    }
    return true;
}

checked_client report_of(const client_watch& watch, bool over_http) {
    return {.name = watch.client(), .over_http = over_http, .rules = watch.findings(clock::now())};
}

/// A signal that ends the watch becomes readable instead of ending the program.
class leaving {
public:
    leaving() {
        sigset_t both{};
        ::sigemptyset(&both);
        ::sigaddset(&both, SIGINT);
        ::sigaddset(&both, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &both, nullptr);
        signal_ = detail::descriptor(::signalfd(-1, &both, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    [[nodiscard]] int fd() const noexcept { return signal_.get(); }

private:
    detail::descriptor signal_;
};

/// A directory of its own for the reports of the servers that the client starts.
class report_place {
public:
    report_place()
        : directory_(std::filesystem::temp_directory_path() / ("andon-check-" + detail::unguessable_name(8))) {
        std::filesystem::create_directory(directory_);
        std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
    }
    ~report_place() {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    report_place(const report_place&) = delete;
    report_place& operator=(const report_place&) = delete;
    [[nodiscard]] std::string file() const { return directory_ / "report"; }

private:
    std::filesystem::path directory_;
};

}  // namespace

int checked_client::broken() const {
    return static_cast<int>(std::count_if(rules.begin(), rules.end(), [](const checked_rule& r) {
        return r.found.what == result::fail && binding(r.level);
    }));
}

check_verdict checked_client::verdict() const {
    if (broken() > 0) return check_verdict::fail;
    const bool seen =
        std::any_of(rules.begin(), rules.end(), [](const checked_rule& r) { return r.found.what == result::pass; });
    return seen ? check_verdict::pass : check_verdict::nothing_seen;
}

checked_client watch_stdio_client() {
    const leaving signal;  // a host that leaves may not wait for its servers
    client_watch watch(false);
    line_splitter lines(longest_line);
    for (bool open = true; open;) {
        std::array<pollfd, 2> ready{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signal.fd(), POLLIN, 0}};
        ::poll(ready.data(), ready.size(), wait_time(watch));
        open = ready[1].revents == 0;
        if (ready[0].revents != 0) {
            const auto room = lines.room();
            const ssize_t got = ::read(STDIN_FILENO, room.data(), room.size());
            if (got > 0) lines.filled(static_cast<std::size_t>(got));
            open = open && (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
        }
        while (const auto line = lines.next()) {
            boost::system::error_code failed;
            const json::value message = json::parse(json::string_view(line->text.data(), line->text.size()), failed);
            if (!failed && message.is_object()) watch.take(message.get_object(), 1, clock::now());
        }
        watch.tick(clock::now());
        for (const client_watch::output& each : watch.outputs()) {
            if (!each.message.empty()) open = write_line(STDOUT_FILENO, json::serialize(each.message) + '\n') && open;
        }
    }
    return report_of(watch, false);
}

checked_client watch_http_client(int port, const std::function<void(const std::string& url)>& ready) {
    const leaving signal;
    client_watch watch(true);
    client_http http(watch, static_cast<std::uint16_t>(port));
    ready(http.url());
    for (;;) {
        std::vector<pollfd> polled{{signal.fd(), POLLIN, 0}};
        http.add_to(polled);
        ::poll(polled.data(), polled.size(), wait_time(watch));
        http.go_on(clock::now());
        if (polled.front().revents != 0) return report_of(watch, true);
    }
}

std::vector<checked_client> watch_client_command(const std::vector<std::string>& argv, milliseconds limit) {
    const report_place reports;
    client_watch watch(true);
    client_http http(watch, 0);
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    command what{.argv = argv};
    what.environment = {{"ANDON_CHECK_URL", http.url()},
                        {"ANDON_CHECK_SERVER", self + " check --client --report " + reports.file()}};
    process_tree client = [&] {
        try {
            return process_tree::start(what, {.in = stdio::null, .out = stdio::inherit, .err = stdio::inherit});
        } catch (const std::exception& error) {
            throw server_gone(std::string("the client cannot be started: ") + error.what());
        }
    }();
    const auto until = clock::now() + limit;
    while (!client.exited()) {
        if (clock::now() > until) {
            throw server_hangs("the client is still there after " + std::to_string(limit.count() / 1000) +
                               " s: see --timeout");
        }
        std::vector<pollfd> polled{{client.report_fd(), POLLIN, 0}};
        http.add_to(polled);
        ::poll(polled.data(), polled.size(), wait_time(watch));
        http.go_on(clock::now());
        client.poll();
    }
    http.go_on(clock::now());
    // The servers that it started see the end of their input when it is gone; the tree is over when they are.
    client.wait(std::chrono::seconds(5));
    std::vector<checked_client> all;
    if (http.used()) all.push_back(report_of(watch, true));
    std::ifstream file(reports.file());
    for (std::string line; std::getline(file, line);) {
        if (auto one = client_from_json(line)) all.push_back(std::move(*one));
    }
    return all;
}

}  // namespace andon::check
