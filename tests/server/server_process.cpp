#include "server/server_process.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include "process/process_watch.hpp"

namespace andon {
namespace {

constexpr std::string_view opening = R"({"jsonrpc":"2.0")";

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    return ends;
}

void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& each : texts) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> with_server(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), built_program("everything_server"));
    if (std::getenv("ANDON_BEHIND_WRAP") != nullptr) {
        const std::vector<std::string> between{built_program("andon"), "wrap", "--log-format", "human", "--no-journal",
                                               "--no-control",         "--"};
        arguments.insert(arguments.begin(), between.begin(), between.end());
    }
    return arguments;
}

pid_t spawn(int in, int out, int err, std::vector<std::string> environment, std::vector<std::string> arguments) {
    for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
    const std::string program = arguments.front();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, pointers_to(arguments).data(),
                                     pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), program);
    return pid;
}

/// What a server behind a gateway wrote to standard error, of the line that the gateway made of it.
std::string as_the_server_wrote_it(const std::string& line) {
    if (line.starts_with("{\"time\"") && line.find(R"("event":"stderr")") != std::string::npos) {
        return std::string(json::parse(line).at("message").as_string());
    }
    const std::size_t mark = line.find(": @");
    return mark == std::string::npos || line.front() != '2' ? line : line.substr(mark + 2);
}

bool is_answer(std::string_view line, std::string_view raw_id) {
    const std::string prefix = std::string(opening) + R"(,"id":)" + std::string(raw_id) + ",\"";
    return line.substr(0, prefix.size()) == prefix &&
           (line.substr(prefix.size(), 8) == "result\":" || line.substr(prefix.size(), 7) == "error\":");
}

int count(const std::vector<std::string>& lines, std::size_t from, const std::function<bool(const std::string&)>& is) {
    const auto first = lines.begin() + static_cast<std::ptrdiff_t>(std::min(from, lines.size()));
    return static_cast<int>(std::count_if(first, lines.end(), is));
}

std::string mark_prefix(std::string_view what, std::string_view key) {
    return "@" + std::string(what) + ' ' + std::string(key) + ' ';
}

}  // namespace

std::string request_line(revision speaks, std::string_view raw_id, std::string_view method,
                         std::string_view raw_members, std::string_view raw_meta) {
    std::string meta(raw_meta);
    if (era_of(speaks) == era::modern) {
        if (!meta.empty()) meta += ',';
        meta += R"("io.modelcontextprotocol/protocolVersion":")" + std::string(to_string(speaks)) +
                R"(","io.modelcontextprotocol/clientCapabilities":{"sampling":{}})";
    }
    std::string params(raw_members);
    if (!meta.empty()) params += (params.empty() ? "" : ",") + std::string(R"("_meta":{)") + meta + '}';
    return std::string(opening) + R"(,"id":)" + std::string(raw_id) + R"(,"method":")" + std::string(method) +
           R"(","params":{)" + params + "}}";
}

std::string call_line(revision speaks, std::string_view raw_id, std::string_view tool, std::string_view raw_arguments,
                      std::string_view raw_meta) {
    const std::string members = R"("name":")" + std::string(tool) + R"(","arguments":)" + std::string(raw_arguments);
    return request_line(speaks, raw_id, "tools/call", members, raw_meta);
}

std::string cancel_line(std::string_view raw_id, std::string_view raw_reason) {
    std::string line = std::string(opening) + R"(,"method":"notifications/cancelled","params":{"requestId":)";
    line += raw_id;
    if (!raw_reason.empty()) (line += R"(,"reason":)") += raw_reason;
    return line += "}}";
}

std::string with_key(std::string_view key, std::string_view raw_members) {
    std::string arguments = R"({"key":")" + std::string(key) + '"';
    if (!raw_members.empty()) (arguments += ',') += raw_members;
    return arguments += '}';
}

server_process::server_process(revision speaks, const std::vector<std::string>& environment,
                               const std::vector<std::string>& arguments)
    : server_process(speaks, {.argv = with_server(arguments), .environment = environment}) {}

server_process::server_process(revision speaks, whole_command what) : speaks_(speaks) {
    // That nobody reads is an error of write() here, and not the end of the tests.
    static const auto ignored [[maybe_unused]] = ::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> in = make_pipe();
    std::array<int, 2> out = make_pipe();
    std::array<int, 2> err = make_pipe();
    what.environment.emplace_back("ANDON_MARKS=1");
    pid_ = spawn(in[0], out[1], err[1], std::move(what.environment), std::move(what.argv));
    pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    ::close(in[0]);
    ::close(out[1]);
    ::close(err[1]);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
    for (const int fd : {in_, out_, err_}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

server_process::~server_process() {
    if (!exited_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    for (int* const fd : {&in_, &out_, &err_, &pidfd_}) close(*fd);
}

void server_process::take_in(int& fd, std::string& partial, std::vector<std::string>& whole) {
    std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close(fd);
    const std::size_t old = partial.size();
    partial.append(bytes.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (auto end = partial.find('\n', old); end != std::string::npos; end = partial.find('\n', begin)) {
        whole.push_back(partial.substr(begin, end - begin));
        begin = end + 1;
    }
    partial.erase(0, begin);
}

bool server_process::pump(int limit_ms, bool also_writable) {
    std::array<pollfd, 4> all{{{reads_output_ ? out_ : -1, POLLIN, 0},
                               {err_, POLLIN, 0},
                               {exited_ ? -1 : pidfd_, POLLIN, 0},
                               {also_writable ? in_ : -1, POLLOUT, 0}}};
    if (::poll(all.data(), all.size(), limit_ms) <= 0) return false;
    ++pieces_;
    if (all[0].revents != 0) take_in(out_, partial_line_, lines_);
    if (all[1].revents != 0) {
        const std::size_t before = log_.size();
        take_in(err_, partial_log_, log_);
        for (std::size_t i = before; i < log_.size(); ++i) log_[i] = as_the_server_wrote_it(log_[i]);
    }
    taken_.resize(lines_.size());
    if (all[2].revents == 0) return true;
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0) return true;
    exited_ = exit_status{info.si_code != CLD_EXITED, info.si_status};
    return true;
}

void server_process::catch_up() {
    while (pump(0, false)) {
    }
}

std::string server_process::all_heard() const {
    constexpr std::size_t most = 40;
    std::string text;
    const auto append = [&](const std::vector<std::string>& from, std::string_view name) {
        text += "\n  " + std::string(name) + ", " + std::to_string(from.size()) + " lines:";
        for (std::size_t i = from.size() > most ? from.size() - most : 0; i < from.size(); ++i) {
            text += "\n    " + from[i].substr(0, 300);
        }
    };
    append(lines_, "standard output");
    append(log_, "standard error");
    if (exited_) text += "\n  exited with " + std::to_string(exited_->code);
    return text;
}

void server_process::wait_until(const std::function<bool()>& done, std::string_view what) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    for (;;) {
        const std::size_t before = pieces_;
        if (done()) return;
        if (pieces_ != before) continue;  // what it asked first has changed since
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
        const bool nothing_more = exited_ && out_ < 0 && err_ < 0;
        if (left.count() <= 0 || nothing_more) {
            throw std::runtime_error("waited in vain for " + std::string(what) + "; heard:" + all_heard());
        }
        pump(static_cast<int>(left.count()), false);
    }
}

bool server_process::write(std::string_view bytes) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (!bytes.empty()) {
        const ssize_t wrote = ::write(in_, bytes.data(), bytes.size());
        if (wrote < 0 && errno != EAGAIN && errno != EINTR) return false;
        bytes.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
        if (bytes.empty()) break;
        if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("the server does not read");
        pump(1'000, true);
    }
    return true;
}

void server_process::open() {
    if (modern()) return;
    send(request_line(speaks_, "\"hello\"", "initialize",
                      R"("protocolVersion":")" + std::string(to_string(speaks_)) +
                          R"(","capabilities":{"sampling":{}},"clientInfo":{"name":"test","version":"1"})"));
    const json::object hello = answer("\"hello\"");
    EXPECT_EQ(hello.at("result").at("protocolVersion").as_string(), to_string(speaks_));
    send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
}

void server_process::close_input() { close(in_); }
void server_process::close_output() { close(out_); }
void server_process::close_log() { close(err_); }

std::size_t server_process::find_untaken(std::string_view raw_id) const {
    std::size_t at = 0;
    while (at < lines_.size() && (taken_[at] || !is_answer(lines_[at], raw_id))) ++at;
    return at;
}

json::object server_process::answer(std::string_view raw_id) {
    wait_until([&] { return untaken(raw_id); }, "the answer to " + std::string(raw_id.substr(0, 100)));
    const std::size_t found = find_untaken(raw_id);
    taken_[found] = true;
    return json::parse(lines_[found]).as_object();
}

std::string server_process::line_with(std::string_view text) {
    std::size_t found = 0;
    wait_until(
        [&] {
            for (found = 0; found < lines_.size(); ++found) {
                if (!taken_[found] && lines_[found].find(text) != std::string::npos) return true;
            }
            return false;
        },
        "a line with " + std::string(text));
    taken_[found] = true;
    return lines_[found];
}

void server_process::fence() {
    const std::string id = "\"fence " + std::to_string(++fences_) + '"';
    call(id, "echo", R"({"text":"fence"})");
    EXPECT_EQ(text_of(answer(id)), "fence");
}

int server_process::until_free(std::string_view raw_id) {
    constexpr int invalid_request = -32600;
    for (int used = 1;; ++used) {
        call(raw_id, "echo", R"({"text":"free"})");
        const json::object next = answer(raw_id);
        if (code_of(next) == invalid_request) continue;
        EXPECT_EQ(text_of(next), "free") << "an answer to " << raw_id << " that should not be";
        return used;
    }
}

int server_process::heard(std::string_view text, std::size_t from) const {
    return count(lines_, from, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

int server_process::answers(std::string_view raw_id, std::size_t from) const {
    return count(lines_, from, [&](const std::string& line) { return is_answer(line, raw_id); });
}

std::string server_process::mark(std::string_view what, std::string_view key) {
    const std::string prefix = mark_prefix(what, key);
    const std::string* found = nullptr;
    wait_until(
        [&] {
            for (const std::string& line : log_) {
                if (line.compare(0, prefix.size(), prefix) == 0) found = &line;
            }
            return found != nullptr;
        },
        prefix);
    return found->substr(prefix.size());
}

bool server_process::marked(std::string_view what, std::string_view key) {
    catch_up();
    const std::string prefix = mark_prefix(what, key);
    return count(log_, 0, [&](const std::string& line) { return line.compare(0, prefix.size(), prefix) == 0; }) > 0;
}

std::string server_process::logged(std::string_view text) {
    const std::string* found = nullptr;
    wait_until(
        [&] {
            for (const std::string& line : log_) {
                if (line.find(text) != std::string::npos) found = &line;
            }
            return found != nullptr;
        },
        "a line of the log with " + std::string(text));
    return *found;
}

int server_process::times_logged(std::string_view text) {
    catch_up();
    return count(log_, 0, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

std::vector<std::string> server_process::log_lines(std::string_view text) {
    catch_up();
    std::vector<std::string> found = log_;
    std::erase_if(found, [&](const std::string& line) { return line.find(text) == std::string::npos; });
    return found;
}

std::string server_process::log_line_with(const std::vector<std::string>& texts) {
    catch_up();
    const auto has_all = [&](const std::string& line) {
        return std::all_of(texts.begin(), texts.end(),
                           [&](const std::string& text) { return line.find(text) != std::string::npos; });
    };
    const auto found = std::find_if(log_.rbegin(), log_.rend(), has_all);
    return found == log_.rend() ? std::string() : *found;
}

exit_status server_process::exit() {
    wait_until([&] { return exited_.has_value(); }, "the end of the process");
    return *exited_;
}

long server_process::status(std::string_view field) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, field.size(), field) == 0) return std::stol(line.substr(field.size() + 1));
    }
    throw std::runtime_error("no " + std::string(field) + " of the process");
}

std::size_t server_process::descriptors() const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid_) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

int code_of(const json::object& answer) {
    const json::value* const error = answer.if_contains("error");
    return error == nullptr ? 0 : static_cast<int>(error->at("code").as_int64());
}

std::string message_of(const json::object& answer) { return std::string(answer.at("error").at("message").as_string()); }

std::string text_of(const json::object& answer) {
    return std::string(answer.at("result").at("content").at(0).at("text").as_string());
}

std::string name_of(revision which) {
    std::string name = "v" + std::string(to_string(which));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string revision_name::operator()(const testing::TestParamInfo<revision>& each) const {
    return name_of(each.param);
}

}  // namespace andon
