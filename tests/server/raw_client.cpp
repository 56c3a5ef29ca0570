#include "server/raw_client.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace andon {
namespace {

/// So long that only a broken program reaches it, on a busy machine and with sanitizers.
constexpr std::chrono::seconds patience{60};

void wait_for(int fd, short event) {  // NOLINT(google-runtime-int): poll's own
    pollfd ready{fd, event, 0};
    if (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) == 0) {
        throw std::runtime_error("the server says nothing, or reads nothing");
    }
}

std::array<int, 2> socket_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    return ends;
}

process_tree start_everything_server() {
    return process_tree::start({.argv = {built_program("everything_server")}, .environment = {{"ANDON_LOG", "off"}}},
                               {.in = stdio::pipe, .out = stdio::pipe, .err = stdio::inherit});
}

}  // namespace

raw_client::raw_client(int in, int out, revision speaks, json::object capabilities)
    : replies(usual_replies()), in_(in), out_(out), speaks_(speaks), capabilities_(std::move(capabilities)) {}

void raw_client::write(const json::object& message) { write_line(json::serialize(message)); }

void raw_client::write_line(std::string line) {
    line += '\n';
    for (std::string_view left = line; !left.empty();) {
        wait_for(out_, POLLOUT);
        const ssize_t wrote = ::write(out_, left.data(), left.size());
        if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "write to the server");
        }
        left.remove_prefix(wrote > 0 ? static_cast<std::size_t>(wrote) : 0);
    }
}

json::object raw_client::read() {
    std::size_t end = 0;
    while ((end = unread_.find('\n')) == std::string::npos) {
        wait_for(in_, POLLIN);
        std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
        const ssize_t got = ::read(in_, bytes.data(), bytes.size());
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got <= 0) throw std::runtime_error("the server is gone");
        unread_.append(bytes.data(), static_cast<std::size_t>(got));
    }
    json::object message = json::parse(std::string_view(unread_).substr(0, end)).as_object();
    unread_.erase(0, end + 1);
    return message;
}

json::object raw_client::reply_to(const json::object& question) {
    questions.push_back({{"method", question.at("method")}, {"params", question.at("params")}});
    return replies.at(std::string(question.at("method").as_string()));
}

void raw_client::take(json::object message) {
    const bool is_call = message.contains("method");
    if (is_call && message.contains("id")) {
        write({{"jsonrpc", "2.0"}, {"id", message.at("id")}, {"result", reply_to(message)}});
    } else if (is_call) {
        notifications_.push_back(std::move(message));
    } else {
        const int id = static_cast<int>(message.at("id").as_int64());
        answers_.emplace(id, std::move(message));
    }
}

json::object raw_client::open() {
    if (era_of(speaks_) == era::modern) return {};
    json::object hello = ask("initialize", {{"protocolVersion", to_string(speaks_)},
                                            {"capabilities", capabilities_},
                                            {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    write({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
    return hello;
}

int raw_client::send(std::string_view method, json::object params, json::object meta) {
    if (era_of(speaks_) == era::modern) {
        meta["io.modelcontextprotocol/protocolVersion"] = to_string(speaks_);
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities_;
    }
    if (!meta.empty()) params["_meta"] = std::move(meta);
    write({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", std::move(params)}});
    return last_id_;
}

json::object raw_client::answer(int id) {
    while (!answers_.contains(id)) take(read());
    return std::move(answers_.extract(id).mapped());
}

json::object raw_client::finish(std::string_view method, json::object params, const json::object& meta) {
    for (;;) {
        json::object got = ask(method, params, meta);
        const json::value* const result = got.if_contains("result");
        if (result == nullptr || !result->as_object().contains("inputRequests")) return got;
        json::object responses;
        for (const auto& [key, question] : result->at("inputRequests").as_object()) {
            responses[key] = reply_to(question.as_object());
        }
        params["inputResponses"] = std::move(responses);
        params["requestState"] = result->at("requestState");
    }
}

json::object raw_client::tool_params(std::string_view tool, json::object arguments) {
    return {{"name", tool}, {"arguments", std::move(arguments)}};
}

json::object raw_client::notification(std::string_view method) {
    for (;;) {
        const auto found = std::find_if(notifications_.begin(), notifications_.end(),
                                        [&](const auto& each) { return each.at("method").as_string() == method; });
        if (found != notifications_.end()) {
            const json::value* const params = found->if_contains("params");
            json::object taken = params == nullptr ? json::object() : params->as_object();
            notifications_.erase(found);
            return taken;
        }
        take(read());
    }
}

std::vector<json::object> raw_client::notifications(std::string_view method) const {
    std::vector<json::object> all;
    for (const json::object& each : notifications_) {
        if (each.at("method").as_string() == method) all.push_back(each.at("params").as_object());
    }
    return all;
}

json::object all_capabilities() {
    return {{"sampling", json::object()}, {"elicitation", json::object()}, {"roots", json::object()}};
}

std::map<std::string, json::object> usual_replies() {
    return {{"sampling/createMessage",
             {{"role", "assistant"},
              {"content", {{"type", "text"}, {"text", "Well said."}}},
              {"model", "a-model"},
              {"stopReason", "endTurn"}}},
            {"elicitation/create",
             {{"action", "accept"}, {"content", {{"name", "Alice"}, {"color", "blue"}, {"context", "a test"}}}}},
            {"roots/list", {{"roots", json::array{json::object{{"uri", "file:///test/root"}, {"name", "Root"}}}}}}};
}

served_process::served_process(revision speaks, json::object capabilities)
    : process_(start_everything_server()), client(process_.out(), process_.in(), speaks, std::move(capabilities)) {
    client.open();
}

served_here::served_here(server& what, revision speaks, json::object capabilities)
    : ends_(socket_pair()), client(ends_[0], ends_[0], speaks, std::move(capabilities)) {
    what.serve(descriptor_transport(ends_[1], ends_[1]));
    client.open();
}

served_here::~served_here() { ::close(ends_[0]); }

}  // namespace andon
