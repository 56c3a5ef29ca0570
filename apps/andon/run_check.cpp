#include <algorithm>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

#include "andon/core/visible_text.hpp"
#include "check.hpp"
#include "check/client_run.hpp"
#include "check/client_watch.hpp"
#include "check/report.hpp"
#include "check/run.hpp"
#include "exit_status.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

using namespace check;

/// What is wrong with the command line, in words for the user.
class usage_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

target target_from(const check_request& asked) {
    target made{.command = asked.server, .url = asked.url, .ca_file = asked.ca_file, .pid = asked.pid};
    if (made.command.size() == 1) {
        try {
            made.command = split_words(asked.server.front());
        } catch (const std::invalid_argument& error) {
            throw usage_error(error.what());
        }
    }
    if (made.command.empty() && made.url.empty()) {
        throw usage_error("name a server: a command after --, or a URL");
    }
    if (!made.command.empty() && is_url(made.command.front())) {
        if (made.command.size() > 1 || !made.url.empty()) throw usage_error("give one URL, or --url and a command");
        made.url = made.command.front();
        made.command.clear();
    }
    if (!made.url.empty() && made.url.find("{port}") == std::string::npos) {
        try {
            (void)detail::endpoint::from_url(made.url);
        } catch (const std::invalid_argument& error) {
            throw usage_error(error.what());
        }
    }
    if (made.pid != 0 && ::kill(made.pid, 0) != 0 && errno == ESRCH) {
        throw usage_error("--pid: there is no process " + std::to_string(made.pid));
    }
    for (const std::string& each : asked.headers) {
        const std::size_t colon = each.find(':');
        const bool clean = std::all_of(each.begin(), each.end(), [](char c) { return c >= 0x20 && c != 0x7F; });
        if (colon == std::string::npos || colon == 0 || !clean) throw usage_error("--header needs 'Name: value'");
        const std::size_t value = each.find_first_not_of(' ', colon + 1);
        made.headers.emplace_back(each.substr(0, colon), value == std::string::npos ? "" : each.substr(value));
    }
    return made;
}

run_options options_from(const check_request& asked) {
    run_options how;
    how.legacy = asked.era != "modern";
    how.modern = asked.era != "legacy";
    how.era_forced = asked.era != "both";
    how.limit = milliseconds(static_cast<std::int64_t>(asked.timeout * 1000));
    how.search.patience = std::min(milliseconds(5000), how.limit);
    how.search.handshake = std::min(how.search.handshake, how.limit);
    how.search.tool = asked.tool;
    how.search.jobs = asked.jobs;
    for (const std::string& each : asked.rules) {
        const auto all = all_probes();
        if (std::none_of(all.begin(), all.end(), [&](const probe& p) { return p.id == each; })) {
            throw usage_error("there is no probe for '" + visible_text(each, 40) + "': see andon check --list");
        }
        how.rules.insert(each);
    }
    if (asked.arguments.empty()) return how;
    if (asked.tool.empty()) throw usage_error("--args needs --tool");
    boost::system::error_code failed;
    const boost::json::value parsed = boost::json::parse(asked.arguments, failed);
    if (failed || !parsed.is_object()) throw usage_error("--args needs a JSON object, as '{\"seconds\":60}'");
    how.search.arguments = parsed.get_object();
    return how;
}

std::size_t columns() {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// One line that is written over on a terminal; lines where somebody asked for them; else nothing.
class progress_line {
public:
    explicit progress_line(bool verbose) : verbose_(verbose), terminal_(::isatty(STDERR_FILENO) != 0) {}
    ~progress_line() { clear(); }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    void operator()(const std::string& words) const {
        if (verbose_) {
            std::fprintf(stderr, "%s\n", words.c_str());
        } else if (terminal_) {
            std::fprintf(stderr, "\r\x1b[K%s", fit(words, 78).c_str());
        }
    }
    void clear() const {
        if (terminal_ && !verbose_) std::fputs("\r\x1b[K", stderr);
    }

private:
    bool verbose_;
    bool terminal_;
};

int status_of(check_verdict what) { return what == check_verdict::pass ? exit_status::ok : exit_status::failed; }

int check_a_server(const check_request& asked) {
    if (asked.http_port >= 0 || !asked.report.empty()) throw usage_error("--http and --report need --client");
    const target server = target_from(asked);
    run_options how = options_from(asked);
    std::ofstream junit;
    if (!asked.junit.empty()) {
        junit.open(asked.junit);
        if (!junit) throw usage_error("cannot write " + asked.junit);
    }
    const progress_line progress(asked.verbose);
    how.progress = [&](const std::string& words) { progress(words); };
    const checked_server found = check_server(server, how);
    progress.clear();
    const bool terminal = on_terminal();
    if (asked.json) {
        print(as_json(found, server));
    } else if (asked.markdown) {
        print(as_markdown(found, server));
    } else {
        print(
            as_text(found, server,
                    {.colours = terminal && colours_wanted(), .columns = terminal && !asked.verbose ? columns() : 0}));
    }
    if (junit.is_open()) {
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
    if (!asked.junit.empty() || asked.markdown || !asked.rules.empty() || !asked.tool.empty() || asked.pid != 0 ||
        !asked.url.empty() || !asked.headers.empty() || !asked.ca_file.empty()) {
        throw usage_error(
            "--junit, --markdown, --rules, --tool, --pid, --url, --header and --ca are for servers, and "
            "not for --client");
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
        const target client = target_from(asked);
        if (client.command.empty()) throw usage_error("name the command of the client after --");
        all = watch_client_command(client.command, milliseconds(static_cast<std::int64_t>(asked.timeout * 1000)));
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
} catch (const usage_error& error) {
    std::cerr << "andon check: " << error.what() << '\n';
    return exit_status::usage;
} catch (const wrong_question& error) {
    std::cerr << "andon check: " << error.what() << '\n';
    return exit_status::usage;
} catch (const server_gone& error) {
    std::cerr << "andon check: " << visible_text(error.what(), 600) << '\n';
    return exit_status::unreachable;
} catch (const std::system_error& error) {
    std::cerr << "andon check: " << error.what() << '\n';
    return exit_status::unreachable;
} catch (const not_spoken& error) {
    std::cerr << "andon check: " << visible_text(error.what(), 600) << '\n';
    return exit_status::unreachable;
} catch (const server_hangs& error) {
    std::cerr << "andon check: hangs: " << visible_text(error.what(), 600) << '\n';
    return exit_status::unreachable;
}

}  // namespace andon::app
