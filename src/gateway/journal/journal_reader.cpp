#include "gateway/journal/journal_reader.hpp"

#include <algorithm>
#include <array>
#include <sqlite3.h>

#include "andon/core/visible_text.hpp"

namespace andon::gateway {
namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

constexpr int patience_ms = 2'000;

constexpr std::array all_ends{call_end::completed, call_end::failed,       call_end::cancelled, call_end::timed_out,
                              call_end::stopped,   call_end::disconnected, call_end::crashed,   call_end::refused};
constexpr std::array all_evidence{stop_evidence::none,   stop_evidence::quiet,  stop_evidence::answered_late,
                                  stop_evidence::killed, stop_evidence::exited, stop_evidence::unseen};

/// The value that is written as `text`.
template <class Enum, std::size_t N>
std::optional<Enum> parse(const std::array<Enum, N>& all, std::string_view text) {
    for (const Enum each : all) {
        if (to_string(each) == text) return each;
    }
    return std::nullopt;
}

const std::string& expect_file(const std::string& path) {
    if (identity_of(path)) return path;
    throw journal_error("there is no journal " + visible_text(path, 400) + " yet", true);
}

system_clock::time_point moment(std::int64_t micros) {
    return system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(microseconds(micros)));
}

/// A damaged file may have anything in it: times beyond what a clock can say become those at its end.
std::int64_t within_clock(std::int64_t micros) {
    constexpr std::int64_t most = 9'000'000'000'000'000;  // the year 2255
    return std::clamp<std::int64_t>(micros, 0, most);
}

std::uint32_t count(std::int64_t value) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, UINT32_MAX));
}

journal_row row_of(const sqlite_statement& at) {
    const auto text = [&at](int column) { return at.text_at(column, longest_journal_text); };
    journal_row row{.id = at.integer_at(0), .andon = static_cast<pid_t>(at.integer_at(1))};
    relayed_call_view& call = row.entry.call;
    call.number = static_cast<std::uint64_t>(at.integer_at(2));
    call.server = text(3);
    call.session = text(4);
    call.method = text(5);
    call.tool = text(6);
    call.request_id = text(7);
    call.traceparent = text(8);
    call.pid = static_cast<pid_t>(at.integer_at(9));
    call.started = moment(within_clock(at.integer_at(10)));
    row.entry.ended = moment(within_clock(at.integer_at(11)));
    row.entry.end = parse(all_ends, text(12)).value_or(call_end::failed);
    row.entry.error_code = static_cast<int>(at.integer_at(13));
    call.cause = parse(all_causes, text(14));
    call.reason = text(15);
    call.asked_by = text(16);
    row.entry.evidence = parse(all_evidence, text(17)).value_or(stop_evidence::none);
    row.entry.ignored = at.integer_at(18) != 0;
    if (!at.null_at(19)) row.entry.time_to_stop = microseconds(within_clock(at.integer_at(19)));
    row.entry.late_messages = count(at.integer_at(20));
    row.entry.killed = count(at.integer_at(21));
    call.stage = call.cause ? call_stage::stopped : call_stage::over;
    return row;
}

}  // namespace

std::optional<call_end> parse_call_end(std::string_view text) noexcept { return parse(all_ends, text); }

journal_reader::journal_reader(const std::string& path)
    : path_(expect_file(path)), identity_(identity_of(path)), base_(path, sqlite_base::access::read) {
    sqlite3_busy_timeout(base_.handle(), patience_ms);
    base_.run("BEGIN");  // both of one moment: somebody may just be making it
    const std::int64_t format = base_.number("PRAGMA user_version");
    const bool empty = base_.number("SELECT count(*) FROM sqlite_schema") == 0;
    base_.run("COMMIT");
    expect_journal_format(format, path_);
    if (format == 0) {
        throw journal_error("there is nothing in the journal " + visible_text(path, 400) +
                                (empty ? " yet" : ": it is another program's file"),
                            empty);
    }
}

std::vector<journal_row> journal_reader::rows(const journal_filter& filter, std::int64_t after, std::size_t most,
                                              const char* order) {
    sqlite_statement query = base_.statement(
        std::string(
            "SELECT id, andon, number, server, session, method, tool, request_id, traceparent, pid, started_us, "
            "ended_us, \"end\", error_code, cause, reason, asked_by, evidence, ignored, time_to_stop_us, "
            "late_messages, killed FROM call WHERE id > ?1 AND (?2 = '' OR server = ?2) AND (?3 = '' OR tool = "
            "?3) AND (?4 = '' OR \"end\" = ?4) AND ended_us >= ?5 AND (?6 = 0 OR ignored <> 0) ORDER BY id ") +
        order + " LIMIT ?7");
    query.integer(1, after);
    query.text(2, filter.server);
    query.text(3, filter.tool);
    query.text(4, filter.end ? to_string(*filter.end) : std::string_view());
    query.integer(5, filter.since ? std::chrono::duration_cast<microseconds>(filter.since->time_since_epoch()).count()
                                  : INT64_MIN);
    query.integer(6, filter.ignored ? 1 : 0);
    query.integer(7, static_cast<std::int64_t>(std::min<std::size_t>(most, INT64_MAX)));
    std::vector<journal_row> found;
    while (query.step()) found.push_back(row_of(query));
    return found;
}

std::vector<journal_row> journal_reader::newest(const journal_filter& filter, std::size_t most) {
    std::vector<journal_row> found = rows(filter, 0, most, "DESC");
    std::reverse(found.begin(), found.end());
    return found;
}

std::vector<journal_row> journal_reader::after(std::int64_t id, const journal_filter& filter, std::size_t most) {
    return rows(filter, id, most, "ASC");
}

}  // namespace andon::gateway
