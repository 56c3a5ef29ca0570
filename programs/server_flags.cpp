#include "server_flags.hpp"

#include <charconv>
#include <chrono>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>

namespace everything {
namespace {

std::size_t number(std::string_view flag, std::string_view text,
                   std::size_t most = std::numeric_limits<std::uint32_t>::max()) {
    std::size_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failed != std::errc() || end != text.data() + text.size() || value > most) {
        throw std::invalid_argument(std::string(flag) + " needs a number up to " + std::to_string(most) + ", not '" +
                                    std::string(text) + "'");
    }
    return value;
}

std::chrono::milliseconds milliseconds_from(std::string_view flag, std::string_view text) {
    return std::chrono::milliseconds(number(flag, text));
}

template <class Value>
bool read_task_flag(andon::task_options& tasks, std::string_view flag, const Value& value) {
    if (flag == "--task-store") {
        tasks.store = andon::sqlite_task_store(std::string(value()));
    } else if (flag == "--task-poll-ms") {
        tasks.poll_interval = milliseconds_from(flag, value());
    } else if (flag == "--task-ttl-ms") {
        tasks.ttl = milliseconds_from(flag, value());
    } else if (flag == "--live-tasks") {
        tasks.live_per_owner = tasks.live = number(flag, value());
    } else if (flag == "--kept-tasks") {
        tasks.kept = number(flag, value());
    } else if (flag == "--task-requests") {
        tasks.requests_per_second = static_cast<double>(number(flag, value()));
    } else if (flag == "--task-questions") {
        tasks.questions = true;
    } else {
        return false;
    }
    return true;
}

}  // namespace

server_flags read_flags(int argc, char** argv, bool& help) {
    server_flags flags;
    andon::http_options http;
    std::map<std::string, std::string> tokens;
    std::string only_http;  // the first flag that says nothing without --http
    for (int i = 1; i < argc; ++i) {
        const std::string_view flag = argv[i];
        const auto value = [&] {
            if (i + 1 == argc) throw std::invalid_argument(std::string(flag) + " needs a value");
            return std::string_view(argv[++i]);
        };
        if (flag == "--help" || flag == "-h") {
            help = true;
            return flags;
        }
        if (flag == "--http") {
            http.port = static_cast<std::uint16_t>(number(flag, value(), std::numeric_limits<std::uint16_t>::max()));
            flags.http.emplace();
            continue;
        }
        if (read_task_flag(flags.tasks, flag, value)) continue;
        if (flag == "--era") {
            const std::string_view named = value();
            if (named != "legacy" && named != "modern") throw std::invalid_argument("--era needs legacy or modern");
            flags.era = named == "legacy" ? andon::era::legacy : andon::era::modern;
            continue;
        }
        if (only_http.empty()) only_http = flag;
        if (flag == "--no-sessions") {
            http.sessions = false;
        } else if (flag == "--not-resumable") {
            http.resumable = false;
        } else if (flag == "--json-only") {
            http.json_only = true;
        } else if (flag == "--token") {
            const std::string_view both = value();
            const std::size_t equals = both.rfind('=');
            if (equals == std::string_view::npos) throw std::invalid_argument("--token needs TOKEN=PRINCIPAL");
            tokens[std::string(both.substr(0, equals))] = std::string(both.substr(equals + 1));
        } else if (flag == "--jwt-key") {
            http.verify = andon::jwt_verifier({.key_file = std::string(value())});
        } else if (flag == "--certificate") {
            http.certificate = value();
        } else if (flag == "--private-key") {
            http.private_key = value();
        } else if (flag == "--host") {
            http.hosts.emplace_back(value());
        } else if (flag == "--comment-ms") {
            http.comment_every = milliseconds_from(flag, value());
        } else if (flag == "--abandon-ms") {
            http.abandon_after = milliseconds_from(flag, value());
        } else if (flag == "--idle-session-ms") {
            http.limits.idle_session = milliseconds_from(flag, value());
        } else if (flag == "--receive-ms") {
            http.limits.receive_within = milliseconds_from(flag, value());
        } else if (flag == "--stalled-ms") {
            http.limits.stalled = milliseconds_from(flag, value());
        } else if (flag == "--per-client") {
            http.limits.per_client = number(flag, value());
        } else if (flag == "--body-bytes") {
            http.limits.body = number(flag, value());
        } else {
            throw std::invalid_argument("no such option: " + std::string(flag));
        }
    }
    if (!flags.http && !only_http.empty()) throw std::invalid_argument(only_http + " needs --http PORT");
    if (!tokens.empty()) http.verify = andon::static_tokens(tokens);
    if (flags.http) flags.http = std::move(http);
    return flags;
}

}  // namespace everything
