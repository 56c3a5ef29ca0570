#include "records/show_log.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "andon/core/visible_text.hpp"
#include "exit_status.hpp"
#include "gateway/config/config.hpp"
#include "gateway/journal/file_watch.hpp"
#include "gateway/journal/journal.hpp"
#include "gateway/journal/moment_text.hpp"
#include "gateway/plain_json.hpp"
#include "records/log_columns.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

using gateway::journal_row;

constexpr std::size_t at_once = 500;

double ms(duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

/// The signals that end it, as something to wait for beside the journal.
class leave_signals {
public:
    leave_signals() {
        sigset_t set;
        sigemptyset(&set);
        for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, each);
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    }
    ~leave_signals() { ::close(descriptor_); }
    leave_signals(const leave_signals&) = delete;
    leave_signals& operator=(const leave_signals&) = delete;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1;
};

class log_view {
public:
    log_view(const log_request& request, std::string path)
        : request_(request), path_(std::move(path)), columns_(output_width(), on_terminal() && colours_wanted()) {}

    int show() {
        if (request_.follow) return follow();
        if (!open()) {
            if (!request_.json)
                std::fprintf(stderr,
                             "andon: no call is over yet that is kept: there is no journal %s; calls that were simply "
                             "answered are kept with every_call = true\n",
                             visible_text(path_, 400).c_str());
            return exit_status::ok;
        }
        const auto rows = reader_->newest(request_.filter, request_.most);
        print_rows(rows);
        if (rows.empty() && !request_.json && on_terminal(STDERR_FILENO)) {
            std::fputs("andon: nothing: no call that is over matches\n", stderr);
        }
        return exit_status::ok;
    }

private:
    int follow() {
        const leave_signals signals;
        gateway::file_watch watch(path_);  // before the first look: what comes after it wakes
        if (open()) {
            last_ = reader_->last_id();
            print_rows(reader_->newest(request_.filter, request_.most));
        }
        for (;;) {
            // A reader of ours that leaves is an error of the pipe, which poll() reports unasked.
            std::array<pollfd, 3> any{
                {{watch.descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
            if (::poll(any.data(), any.size(), -1) < 0) continue;
            if (any[1].revents != 0 || any[2].revents != 0 || std::ferror(stdout) != 0) return exit_status::ok;
            if (watch.changed()) print_new();
        }
    }

    void print_new() {
        do {
            forget_replaced();
            try {
                if (reader_ || open()) print_after_last();
            } catch (const gateway::journal_error&) {
                if (!reader_ || !reader_->replaced()) throw;  // else it was taken away while it was read
            }
        } while (reader_ && reader_->replaced());
    }

    void forget_replaced() {
        if (!reader_ || !reader_->replaced()) return;
        reader_.reset();
        last_ = 0;
    }

    void print_after_last() {
        for (;;) {
            const std::int64_t until = reader_->last_id();
            const auto rows = reader_->after(last_, request_.filter, at_once);
            print_rows(rows);
            if (rows.size() == at_once) continue;
            last_ = std::max(last_, until);  // those that the filter left out are not looked at again
            return;
        }
    }

    /// Whether there is a journal.
    bool open() try {
        reader_ = std::make_unique<gateway::journal_reader>(path_);
        return true;
    } catch (const gateway::journal_error& error) {
        if (!error.missing()) throw;
        return false;
    }

    void print_rows(const std::vector<journal_row>& rows) {
        if (rows.empty()) return;
        for (const journal_row& each : rows) last_ = std::max(last_, each.id);
        print(request_.json ? as_json(rows) : as_text(rows));
    }

    [[nodiscard]] static std::string as_json(const std::vector<journal_row>& rows) {
        std::string text;
        for (const journal_row& each : rows) (text += log_json(each)) += '\n';
        return text;
    }

    [[nodiscard]] std::string as_text(std::vector<journal_row> rows) {
        // The journal has them in the order in which their work was over, which may be long after the host's answer.
        std::ranges::stable_sort(rows, {}, [](const journal_row& each) { return each.entry.ended; });
        columns_.make_room(rows);
        std::string text = std::exchange(headed_, true) ? "" : columns_.heading();
        for (const journal_row& each : rows) text += columns_.lines(each);
        return text;
    }

    const log_request& request_;
    std::string path_;
    log_columns columns_;
    bool headed_ = false;
    std::unique_ptr<gateway::journal_reader> reader_;
    std::int64_t last_ = 0;
};

}  // namespace

std::string log_json(const journal_row& row) {
    const gateway::journal_entry& entry = row.entry;
    const gateway::relayed_call_view& call = entry.call;
    json::object made{{"time", gateway::utc_text(entry.ended)},
                      {"started", gateway::utc_text(call.started)},
                      {"call", std::to_string(row.andon) + '.' + std::to_string(call.number)},
                      {"server", call.server},
                      {"session", call.session},
                      {"method", call.method},
                      {"tool", call.tool},
                      {"id", call.request_id},
                      {"end", to_string(entry.end)},
                      {"took_ms", ms(std::chrono::duration_cast<duration>(entry.ended - call.started))},
                      {"error_code", entry.error_code},
                      {"cause", call.cause ? json::value(to_string(*call.cause)) : json::value()},
                      {"asked_by", call.asked_by},
                      {"reason", call.reason},
                      {"time_to_stop_ms", entry.time_to_stop ? json::value(ms(*entry.time_to_stop)) : json::value()},
                      {"evidence", to_string(entry.evidence)},
                      {"ignored", entry.ignored},
                      {"late_messages", entry.late_messages},
                      {"killed", entry.killed},
                      {"pid", call.pid},
                      {"traceparent", call.traceparent}};
    return gateway::plain_json(made);
}

int show_log(const log_request& request) {
    const gateway::configuration config = gateway::load_config(request.config);
    return log_view(request, gateway::journal_path(config.journal)).show();
}

}  // namespace andon::app
