#include "gateway/config/config_trial.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "andon/core/visible_text.hpp"
#include "andon/server/authorization.hpp"
#include "gateway/config/reaching.hpp"
#include "gateway/config/toml_tree.hpp"
#include "transport/http/tls_context.hpp"

namespace andon::gateway {
namespace {

namespace fs = std::filesystem;

using key_path = std::vector<std::string>;

bool is_set(const std::string& variable) {
    const char* const value = std::getenv(variable.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value != nullptr && *value != '\0';
}

std::string shown(const std::string& path) { return visible_text(path, 400); }

/// Why it cannot be used; empty: it can.
template <class Load>
std::string fault_of(Load load) {
    try {
        load();
        return {};
    } catch (const std::exception& error) {
        return visible_text(error.what(), 600);
    }
}

class trial {
public:
    explicit trial(const configuration& config) : config_(config), file_(visible_text(config.file, 400)) {
        auto parsed = parse_toml(config.text);
        if (auto* const table = std::get_if<toml_table>(&parsed)) tree_ = std::move(*table);
    }

    config_trial run() {
        gateway_certificate();
        for (const token_source& each : config_.gateway.tokens) {
            const key_path token{"gateway", "tokens", each.principal};
            expect_variable(each.env, "the token of " + visible_text(each.principal, 64), token, "env");
            if (each.file.empty() && !is_set(each.env)) continue;
            const std::string wrong = fault_of([&] {
                static_cast<void>(static_tokens({{token_of(each), each.principal}}));
            });
            if (!wrong.empty()) found_.faults.push_back(at(token, each.file.empty() ? "env" : "file") + wrong);
        }
        for (const server_config& each : config_.servers) {
            const key_path server{"servers", each.name};
            if (const auto* const url = std::get_if<url_target>(&each.target)) {
                behind_url(*url, each.name, server);
            } else {
                command(std::get<command_target>(each.target), server);
            }
        }
        return std::move(found_);
    }

private:
    void gateway_certificate() {
        const gateway_config& gateway = config_.gateway;
        if (gateway.certificate.empty()) return;
        const std::string wrong =
            fault_of([&] { static_cast<void>(detail::tls_context::server(gateway.certificate, gateway.private_key)); });
        if (wrong.empty()) return;
        const bool key = wrong.find("the key in") != std::string::npos;
        found_.problems.push_back(at({"gateway"}, key ? "private_key" : "certificate") + wrong);
    }

    void behind_url(const url_target& url, const std::string& name, const key_path& server) {
        expect_variable(url.bearer_env, "the token of the server " + name, server, "bearer_env");
        for (const auto& [header, variable] : url.headers_env) {
            expect_variable(variable, "the header " + visible_text(header, 64) + " of the server " + name, server,
                            "headers_env");
        }
        if (url.ca_file.empty()) return;
        const std::string wrong = fault_of([&] { static_cast<void>(detail::tls_context::client(url.ca_file)); });
        if (!wrong.empty()) found_.problems.push_back(at(server, "ca_file") + wrong);
    }

    void command(const command_target& target, const key_path& server) {
        std::error_code error;
        if (!target.directory.empty() && !fs::is_directory(target.directory, error)) {
            found_.faults.push_back(at(server, "cwd") + "there is no folder " + shown(target.directory));
        } else if (!can_be_started(target)) {
            found_.faults.push_back(at(server, "command") + "there is no program " + shown(target.argv.front()) +
                                    (target.argv.front().find('/') == std::string::npos ? " in the PATH" : ""));
        }
    }

    void expect_variable(const std::string& variable, const std::string& what, const key_path& table,
                         const std::string& key) {
        if (variable.empty() || is_set(variable)) return;
        found_.warnings.push_back(at(table, key) + "the environment variable " + variable + ", for " + what +
                                  ", is not set");
    }

    /// `andon.toml:3:1: command: `
    [[nodiscard]] std::string at(const key_path& table, const std::string& key) const {
        const toml_table* in = &tree_;
        text_position where;
        const auto go_to = [&](const std::string& name) {
            for (const toml_member& each : *in) {
                if (each.key != name) continue;
                where = each.at;
                in = each.value.table();
                return in != nullptr;
            }
            return false;
        };
        bool there = true;
        for (const std::string& each : table) there = there && go_to(each);
        if (there) go_to(key);
        return file_ + ':' + std::to_string(where.line) + ':' + std::to_string(where.column) + ": " + key + ": ";
    }

    const configuration& config_;
    std::string file_;
    toml_table tree_;
    config_trial found_;
};

}  // namespace

config_trial try_config(const configuration& config) { return trial(config).run(); }

}  // namespace andon::gateway
