#include "gateway/config/config.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "andon/core/visible_text.hpp"
#include "gateway/config/config_keys.hpp"
#include "gateway/config/nearest_word.hpp"
#include "transport/http/endpoint.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t most_problems = 50;
constexpr std::size_t most_servers = 1'000;
constexpr std::size_t longest_name = 64;
constexpr std::size_t shown_value = 60;

std::string all_lines(const std::vector<std::string>& problems) {
    std::string text;
    for (const std::string& each : problems) (text += text.empty() ? "" : "\n") += each;
    return text;
}

std::string in_quotes(std::string_view text) { return '"' + visible_text(text, shown_value) + '"'; }

/// A value that was not expected, in a few words.
std::string kind_of(const toml_node& node) {
    struct names {
        std::string operator()(const toml_other& /*value*/) const { return "a date or a time"; }
        std::string operator()(bool value) const { return value ? "true" : "false"; }
        std::string operator()(std::int64_t value) const { return std::to_string(value); }
        std::string operator()(double /*value*/) const { return "a fraction"; }
        std::string operator()(const std::string& value) const { return in_quotes(value); }
        std::string operator()(const toml_array& /*value*/) const { return "this list"; }
        std::string operator()(const toml_table& /*value*/) const { return "this table"; }
    };
    return std::visit(names{}, node.value);
}

bool is_server_name(std::string_view name) {
    return !name.empty() && name.size() <= longest_name && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_' || c == '.';
           });
}

bool is_loopback(std::string_view address) {
    return address == "localhost" || address == "::1" || address == "[::1]" || address.starts_with("127.");
}

class config_reader {
public:
    config_reader(std::string_view file) : file_(visible_text(file, 400)) {
        base_ = std::filesystem::path(file).parent_path().string();
    }

    void problem(text_position at, std::string what) { problems_.push_back({at, std::move(what)}); }

    [[nodiscard]] configuration read(const toml_table& file) {
        configuration config;
        std::vector<std::string_view> tables{"servers"};
        for_each_plain_table([&](std::string_view name, std::string_view /*about*/, const auto& /*keys*/,
                                 auto /*member*/) { tables.push_back(name); });
        for (const toml_member& each : file) {
            bool known = each.key == "servers";
            for_each_plain_table([&](std::string_view name, std::string_view /*about*/, const auto& keys, auto member) {
                if (each.key != name) return;
                known = true;
                const bool has_tokens = name == "gateway";
                settings(config.*member, each, std::string(name), keys, key_scope::any,
                         has_tokens ? std::span(&tokens_word, 1) : std::span<const std::string_view>{});
            });
            if (!known) unknown(each, "", tables);
        }
        const toml_node* const gateway = find(file, "gateway");
        if (gateway != nullptr && gateway->table() != nullptr) check_gateway(config.gateway, *gateway);
        if (const toml_node* const servers = find(file, "servers")) read_servers(config, *servers);
        check_paths(config, file);
        return config;
    }

    /// In the order of the file.
    [[nodiscard]] std::vector<std::string> take_problems() {
        std::stable_sort(problems_.begin(), problems_.end(), [](const auto& one, const auto& other) {
            return std::pair(one.at.line, one.at.column) < std::pair(other.at.line, other.at.column);
        });
        std::vector<std::string> lines;
        for (const auto& [at, what] : problems_) {
            if (lines.size() == most_problems) {
                lines.push_back(file_ + ": and " + std::to_string(problems_.size() - most_problems) + " more");
                break;
            }
            lines.push_back(file_ + ':' + std::to_string(at.line) + ':' + std::to_string(at.column) + ": " + what);
        }
        return lines;
    }

private:
    static constexpr std::string_view tokens_word = "tokens";
    static constexpr std::string_view tools_word = "tools";

    [[nodiscard]] static const toml_node* find(const toml_table& in, std::string_view key) {
        for (const toml_member& each : in) {
            if (each.key == key) return &each.value;
        }
        return nullptr;
    }
    /// Where a key stands, or else its table.
    [[nodiscard]] static text_position position(const toml_node& table, std::string_view key) {
        for (const toml_member& each : *table.table()) {
            if (each.key == key) return each.at;
        }
        return table.at;
    }

    void unknown(const toml_member& member, const std::string& where, const std::vector<std::string_view>& known) {
        std::string text = "unknown key " + in_quotes(member.key) + (where.empty() ? "" : " in [" + where + "]");
        if (const std::string meant = did_you_mean(member.key, known); !meant.empty()) {
            text += meant;
        } else {
            text += "; known are ";
            for (std::size_t i = 0; i < known.size(); ++i) (text += i == 0 ? "" : ", ") += known[i];
        }
        problem(member.at, text);
    }

    /// Whether it is a table; if not, that is a problem.
    bool expect_table(const toml_member& member, const std::string& where) {
        if (member.value.table() != nullptr) return true;
        problem(member.value.at, where + " must be a table, not " + kind_of(member.value));
        return false;
    }

    template <class Section>
    void settings(Section& into, const toml_member& from, const std::string& where,
                  const std::vector<config_key<Section>>& keys, key_scope scope,
                  std::span<const std::string_view> tables) {
        if (!expect_table(from, where)) return;
        for (const toml_member& each : *from.value.table()) {
            const auto key =
                std::find_if(keys.begin(), keys.end(), [&](const auto& known) { return known.name == each.key; });
            if (key == keys.end()) {
                if (std::find(tables.begin(), tables.end(), each.key) != tables.end()) continue;
                std::vector<std::string_view> known(tables.begin(), tables.end());
                for (const auto& other : keys) {
                    if (matches(other.scope, scope)) known.push_back(other.name);
                }
                unknown(each, where, known);
            } else if (!matches(key->scope, scope)) {
                problem(each.at, '"' + each.key + "\" is for servers with a " +
                                     (key->scope == key_scope::url ? "`url`" : "`command`") + ", and [" + where +
                                     "] has none");
            } else if (const std::string expected = key->read(into, each.value, base_); !expected.empty()) {
                problem(each.value.at,
                        each.key + " must be " + expected + ", not " + detail::without_password(kind_of(each.value)));
            }
        }
    }
    static bool matches(key_scope key, key_scope server) {
        return key == key_scope::any || server == key_scope::any || key == server;
    }

    void check_gateway(gateway_config& config, const toml_node& table) {
        if (config.certificate.empty() != config.private_key.empty()) {
            problem(position(table, config.certificate.empty() ? "private_key" : "certificate"),
                    "TLS needs both \"certificate\" and \"private_key\"");
        }
        if (!is_loopback(config.address) && config.hosts.empty()) {
            problem(position(table, "address"),
                    "an address that is not loopback needs \"hosts\": the names under which clients reach it");
        }
        for (const std::string& each : config.hosts) {
            if (each.find(':') == std::string::npos || each.starts_with('[')) continue;
            problem(position(table, "hosts"),
                    "a host is named without its port, unlike \"" + visible_text(each, 64) + '"');
        }
        for (const toml_member& each : *table.table()) {
            if (each.key == tokens_word && expect_table(each, "gateway.tokens")) {
                for (const toml_member& token : *each.value.table()) read_token(config, token);
            }
        }
    }

    void read_token(gateway_config& config, const toml_member& member) {
        const std::string where = "gateway.tokens." + visible_text(member.key, shown_value);
        token_source token{.principal = member.key};
        if (member.key.empty() || member.key.size() > longest_name) {
            problem(member.at, "the name of a token has 1 to " + std::to_string(longest_name) + " bytes");
        }
        const std::size_t before = problems_.size();
        settings(token, member, where, token_keys(), key_scope::any, {});
        if (problems_.size() == before && token.env.empty() == token.file.empty()) {
            problem(member.at, "[" + where + "] needs \"env\" or \"file\", and not both");
        }
        config.tokens.push_back(std::move(token));
    }

    void read_servers(configuration& config, const toml_node& servers) {
        if (servers.table() == nullptr) {
            return problem(servers.at, "servers must be tables, as [servers.files], not " + kind_of(servers));
        }
        if (servers.table()->size() > most_servers) {
            return problem(servers.at, "more than " + std::to_string(most_servers) + " servers");
        }
        for (const toml_member& each : *servers.table()) read_server(config, each);
        std::sort(config.servers.begin(), config.servers.end(),
                  [](const server_config& one, const server_config& other) { return one.name < other.name; });
    }

    void read_server(configuration& config, const toml_member& member) {
        const std::string where = "servers." + visible_text(member.key, shown_value);
        if (!is_server_name(member.key)) {
            problem(member.at, "the name of a server has 1 to " + std::to_string(longest_name) +
                                   " letters, digits, '-', '_' and '.', unlike " + in_quotes(member.key));
        }
        if (!expect_table(member, where)) return;
        const bool has_command = find(*member.value.table(), "command") != nullptr;
        const bool has_url = find(*member.value.table(), "url") != nullptr;
        if (has_command == has_url) {
            problem(member.at, "[" + where + "] needs \"command\" or \"url\"" + (has_command ? ", and not both" : ""));
        }
        server_draft draft;
        draft.config.name = member.key;
        const key_scope scope = has_command == has_url ? key_scope::any : has_url ? key_scope::url : key_scope::command;
        settings(draft, member, where, server_keys(), scope, std::span(&tools_word, 1));
        if (draft.config.path.empty()) draft.config.path = "/" + member.key + "/mcp";
        if (draft.config.restart_most < draft.config.restart_first) {
            problem(position(member.value, "restart_most"), "restart_most must not be less than restart_first");
        }
        server_policy& policy = draft.config.policy;
        check_call(policy.usual, member.value, scope);
        if (const toml_node* const tools = find(*member.value.table(), tools_word)) {
            if (tools->table() == nullptr) {
                problem(tools->at, where + ".tools must be tables, as [" + where + ".tools.search]");
            } else {
                for (const toml_member& each : *tools->table()) read_tool(policy, each, where, scope);
            }
        }
        if (has_url) {
            draft.config.target = std::move(draft.url);
        } else {
            draft.config.target = std::move(draft.command);
        }
        config.servers.push_back(std::move(draft.config));
    }

    void read_tool(server_policy& policy, const toml_member& member, const std::string& server, key_scope scope) {
        call_policy& tool = policy.tools.emplace(member.key, policy.usual).first->second;
        settings(tool, member, server + ".tools." + visible_text(member.key, shown_value), call_keys(), key_scope::any,
                 {});
        if (member.value.table() != nullptr) check_call(tool, member.value, scope);
    }

    void check_call(const call_policy& policy, const toml_node& table, key_scope scope) {
        if (policy.timeout && policy.max_timeout && *policy.max_timeout < *policy.timeout) {
            problem(position(table, "max_timeout"), "max_timeout must not be less than timeout");
        }
        const bool says = find(*table.table(), "on_ignored") != nullptr;
        if (says && scope == key_scope::url && policy.on_ignored != ignored_policy::drop) {
            problem(position(table, "on_ignored"),
                    "on_ignored must be \"drop\": the process behind a `url` is out of reach");
        }
    }

    void check_paths(const configuration& config, const toml_table& file) {
        std::map<std::string_view, std::string_view> taken;
        if (config.metrics.enabled) taken[config.metrics.path] = "the metrics";
        for (const server_config& each : config.servers) {
            const auto [found, is_new] = taken.emplace(each.path, each.name);
            if (is_new) continue;
            for (const toml_member& member : *find(file, "servers")->table()) {
                if (member.key != each.name) continue;
                problem(position(member.value, "path"), "the path " + in_quotes(each.path) + " is taken by " +
                                                            visible_text(found->second, shown_value));
            }
        }
    }

    std::string file_;
    std::string base_;
    struct found_problem {
        text_position at;
        std::string what;
    };
    std::vector<found_problem> problems_;
};

bool sets_nothing(const toml_table& table) {
    return std::ranges::all_of(table, [](const toml_member& each) {
        const toml_table* const below = each.value.table();
        return below != nullptr && sets_nothing(*below);
    });
}

}  // namespace

config_error::config_error(std::vector<std::string> problems)
    : std::runtime_error(all_lines(problems)), problems_(std::move(problems)) {}

const server_config* configuration::server(std::string_view name) const noexcept {
    for (const server_config& each : servers) {
        if (each.name == name) return &each;
    }
    return nullptr;
}

configuration parse_config(std::string_view toml, std::string_view file) {
    const auto parsed = parse_toml(toml);
    config_reader reader(file);
    configuration config;
    if (const auto* const fault = std::get_if<toml_fault>(&parsed)) {
        reader.problem(fault->at, visible_text(fault->what, 400));
    } else {
        const auto& table = std::get<toml_table>(parsed);
        config = reader.read(table);
        config.sets_nothing = sets_nothing(table);
    }
    if (auto problems = reader.take_problems(); !problems.empty()) throw config_error(std::move(problems));
    config.file = file;
    config.text = toml;
    return config;
}

}  // namespace andon::gateway
