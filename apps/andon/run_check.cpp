#include <algorithm>
#include <boost/json/parse.hpp>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "check.hpp"
#include "check/client_run.hpp"
#include "check/client_watch.hpp"
#include "check/report.hpp"
#include "check/run.hpp"
#include "exit_status.hpp"
#include "gateway/config/command_words.hpp"
#include "gateway/config/nearest_word.hpp"
#include "gateway/plain_json.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

using namespace check;

/// What is wrong with the command line, in words for the user.
class usage_error : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

int complain(const std::string& words, int status) {
    std::cerr << "andon check: " << words << '\n';
    return status;
}

bool is_url(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

void expect_clean(std::string_view header) {
    const bool clean = std::ranges::all_of(header, [](char c) { return c >= 0x20 && c != 0x7F; });
    if (!clean) throw usage_error("a header has control characters in it");
}

void expect_certificates(const std::string& file) try {
    static_cast<void>(detail::tls_context::client(file));
} catch (const std::exception& error) {
    throw usage_error(error.what());
}

target target_from(const check_request& asked) {
    target made{.url = asked.url, .pid = asked.pid};
    http_client_options how;
    if (asked.server.empty() && made.url.empty()) {
        throw usage_error("name a server: a command after --, a URL, or a name from the configuration");
    }
    if (asked.server.size() > 1 && is_url(asked.server.front())) throw usage_error("give one URL, or a command");
    if (!asked.server.empty()) {
        server_target found = asked.server.size() == 1 ? resolve_server(asked.server.front(), asked.access.config)
                                                       : command{.argv = asked.server};
        if (auto* const start = std::get_if<command>(&found)) {
            apply_access(asked.access, *start);
            made.command = std::move(start->argv);
            made.environment = std::move(start->environment);
            made.directory = std::move(start->directory);
        } else {
            if (!made.url.empty()) throw usage_error("give one URL, or --url and a command");
            made.url = std::get<server_url>(found).text;
            how = std::get<server_url>(found).how;
        }
    }
    if (made.url.empty()) refuse_url_options(asked.access);
    if (made.command.empty()) refuse_command_options(asked.access);
    apply_access(asked.access, how);
    made.headers = std::move(how.headers);
    if (!how.bearer_token.empty()) made.headers.emplace_back("Authorization", "Bearer " + how.bearer_token);
    for (const auto& [name, value] : made.headers) expect_clean(name + value);
    made.ca_file = std::move(how.ca_file);
    if (!made.ca_file.empty()) expect_certificates(made.ca_file);
    if (!made.url.empty() && made.url.find("{port}") == std::string::npos) {
        static_cast<void>(detail::endpoint::from_url(made.url));
    }
    if (made.pid != 0 && ::kill(made.pid, 0) != 0 && errno == ESRCH) {
        throw usage_error("--pid: there is no process " + std::to_string(made.pid));
    }
    return made;
}

/// Of the client under test.
std::vector<std::string> client_command(const check_request& asked) {
    if (asked.server.size() != 1) return asked.server;
    auto words = gateway::command_words(asked.server.front());
    if (!words) throw usage_error("a quote or a backslash has no end in: " + visible_text(asked.server.front(), 200));
    return *std::move(words);
}

/// As the table has it.
std::string rule_named(const std::string& text) {
    std::string id(text);
    std::ranges::transform(id, id.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    std::vector<std::string> known;
    for (const probe& each : all_probes()) known.emplace_back(each.id);
    if (std::ranges::find(known, id) != known.end()) return id;
    const std::string meant = gateway::did_you_mean(id, known);
    throw usage_error("there is no probe for '" + visible_text(text, 40) + "'" +
                      (meant.empty() ? ": see andon check --list" : meant));
}

run_options options_from(const check_request& asked) {
    run_options how;
    how.legacy = asked.era != "modern";
    how.modern = asked.era != "legacy";
    how.era_forced = asked.era != "both";
    how.limit = std::chrono::duration_cast<milliseconds>(asked.timeout);
    how.search.patience = std::min(milliseconds(5000), how.limit);
    how.search.handshake = std::min(how.search.handshake, how.limit);
    how.search.tool = asked.tool;
    how.search.jobs = asked.jobs;
    for (const std::string& each : asked.rules) how.rules.insert(rule_named(each));
    if (asked.arguments.empty()) return how;
    if (asked.tool.empty()) throw usage_error("--args needs --tool");
    boost::system::error_code failed;
    const boost::json::value parsed = boost::json::parse(asked.arguments, failed);
    if (failed || !parsed.is_object()) throw usage_error("--args needs a JSON object, as '{\"seconds\":60}'");
    how.search.arguments = parsed.get_object();
    return how;
}

/// One line that is written over on a terminal; lines where somebody asked for them; else nothing.
class progress_line {
public:
    explicit progress_line(bool verbose) : verbose_(verbose), terminal_(on_terminal(STDERR_FILENO)) {}
    ~progress_line() { clear(); }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    void operator()(const std::string& words) const {
        if (verbose_) {
            std::fprintf(stderr, "%s\n", words.c_str());
        } else if (terminal_) {
            // The last column stays free: there the cursor would go on to the next line, and the beginning be left.
            std::fprintf(stderr, "\r\x1b[K%s", fit(words, window_of(STDERR_FILENO).columns - 1).c_str());
        }
    }
    void clear() const {
        if (terminal_ && !verbose_) std::fputs("\r\x1b[K", stderr);
    }

private:
    bool verbose_;
    bool terminal_;
};

/// For programs it is an answer, too.
int no_verdict(const check_request& asked, const std::string& words, std::string_view verdict, int status) {
    if (asked.json) {
        print(gateway::plain_json(json::object{{"schema", 1}, {"verdict", verdict}, {"error", words}}) + '\n');
    }
    return complain(words, status);
}

int unusable(const check_request& asked, const std::exception& error) {
    return no_verdict(asked, error.what(), "usage", exit_status::usage);
}

int unreachable(const check_request& asked, const std::exception& error) {
    const std::string why = visible_text(error.what(), 600);
    return no_verdict(asked, why + access_hint(asked.access, why), "unreachable", exit_status::unreachable);
}

/// A report is written when there is one: until then the one of before stays.
void expect_writable(const std::string& file) {
    std::error_code ignored;
    const bool there = std::filesystem::exists(file, ignored);
    if (!std::ofstream(file, std::ios::app)) throw usage_error("cannot write " + file);
    if (!there) std::filesystem::remove(file, ignored);
}

int status_of(check_verdict what) { return what == check_verdict::pass ? exit_status::ok : exit_status::failed; }

int check_a_server(const check_request& asked) {
    if (asked.http_port >= 0 || !asked.report.empty()) throw usage_error("--http and --report need --client");
    const target server = target_from(asked);
    run_options how = options_from(asked);
    if (!asked.junit.empty()) expect_writable(asked.junit);
    const progress_line progress(asked.verbose);
    how.progress = [&](const std::string& words) { progress(words); };
    const checked_server found = check_server(server, how);
    progress.clear();
    if (asked.json) {
        print(as_json(found, server));
    } else if (asked.markdown) {
        print(as_markdown(found, server));
    } else {
        const std::size_t columns = asked.verbose ? 0 : output_width().value_or(0);
        print(as_text(found, server, {.colours = on_terminal() && colours_wanted(), .columns = columns}));
    }
    if (!asked.junit.empty()) {
        std::ofstream junit(asked.junit);
        junit << as_junit(found, server);
        if (!junit.flush()) throw std::runtime_error("cannot write " + asked.junit);
    }
    return status_of(found.verdict());
}

/// The report of a server that the client started: its standard output belongs to the client.
int report_apart(const check_request& asked, const checked_client& found) {
    if (asked.report.empty()) {
        std::cerr << client_as_text(found, false);
    } else {
        std::ofstream file(asked.report, std::ios::app);
        file << client_as_json(found);
        if (!file.flush()) throw std::runtime_error("cannot write " + asked.report);
    }
    return status_of(found.verdict());
}

/// What would be left unsaid otherwise.
void refuse_for_client(const check_request& asked) {
    const server_access& access = asked.access;
    const bool reaches = !access.headers.empty() || !access.ca_file.empty() || !access.bearer_env.empty() ||
                         !access.config.empty() || !access.env.empty() || !access.cwd.empty();
    if (!asked.junit.empty() || asked.markdown || !asked.rules.empty() || !asked.tool.empty() || asked.pid != 0 ||
        !asked.url.empty() || reaches) {
        throw usage_error(
            "--junit, --markdown, --rules, --tool, --pid, --url and the options that say how a server is reached "
            "are for servers, and not for --client");
    }
}

int check_a_client(const check_request& asked) {
    refuse_for_client(asked);
    if (asked.server.empty() && asked.http_port < 0) return report_apart(asked, watch_stdio_client());
    if (!asked.server.empty() && asked.http_port >= 0) {
        throw usage_error("--http waits for a client that is driven by hand: leave out the command");
    }
    std::vector<checked_client> all;
    if (asked.http_port >= 0) {
        all.push_back(watch_http_client(asked.http_port, [](const std::string& url) {
            std::cerr << "listening on " << url << '\n' << what_to_do() << "Ctrl-C ends it and prints the report.\n";
        }));
    } else {
        all = watch_client_command(client_command(asked), std::chrono::duration_cast<milliseconds>(asked.timeout));
        if (all.empty()) {
            std::cerr << "andon check: the client spoke to nobody: it is to start $ANDON_CHECK_SERVER on stdio, or to "
                         "connect to $ANDON_CHECK_URL\n";
            return exit_status::unreachable;
        }
    }
    std::ofstream file;
    if (!asked.report.empty()) file.open(asked.report);
    int status = exit_status::ok;
    for (const checked_client& each : all) {
        print(asked.json ? client_as_json(each) : client_as_text(each, on_terminal() && colours_wanted()));
        if (file.is_open()) file << client_as_json(each);
        status = std::max(status, status_of(each.verdict()));
    }
    return status;
}

}  // namespace

int run_check(const check_request& asked) try {
    if (asked.list) {
        print(list_of_probes({.colours = on_terminal() && colours_wanted()}));
        return exit_status::ok;
    }
    return asked.client ? check_a_client(asked) : check_a_server(asked);
} catch (const std::invalid_argument& error) {
    return unusable(asked, error);
} catch (const wrong_question& error) {
    return unusable(asked, error);
} catch (const std::system_error& error) {
    return no_verdict(asked, error.what(), "unreachable", exit_status::unreachable);
} catch (const server_hangs& error) {
    return no_verdict(asked, "hangs: " + visible_text(error.what(), 600), "unreachable", exit_status::unreachable);
} catch (const server_gone& error) {
    return unreachable(asked, error);
} catch (const not_spoken& error) {
    return unreachable(asked, error);
}

}  // namespace andon::app
