#include "gateway/journal/journal.hpp"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "gateway/config/config.hpp"
#include "gateway/journal/journal_reader.hpp"
#include "gateway/journal_entries.hpp"
#include "gateway/log_lines.hpp"
#include "own_folder.hpp"

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto long_enough = 20s;

/// Another program that uses the file.
class stranger {
public:
    explicit stranger(const std::string& path) {
        EXPECT_EQ(sqlite3_open(path.c_str(), &base_), SQLITE_OK);
        sqlite3_busy_timeout(base_, 10'000);
    }
    ~stranger() { sqlite3_close(base_); }
    stranger(const stranger&) = delete;
    stranger& operator=(const stranger&) = delete;
    void run(const std::string& sql) const {
        EXPECT_EQ(sqlite3_exec(base_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(base_);
    }

private:
    sqlite3* base_ = nullptr;
};

class journal_on_disk : public testing::Test {
protected:
    own_folder folder;
    log_lines log;
    journal_options options{.path = folder / "state/journal.db", .first_retry = 10ms, .longest_retry = 20ms};

    [[nodiscard]] std::vector<journal_row> rows(const journal_filter& filter = {}, std::size_t most = 1'000'000) const {
        return journal_reader(options.path).newest(filter, most);
    }
    [[nodiscard]] std::vector<std::uint64_t> numbers(const journal_filter& filter = {},
                                                     std::size_t most = 1'000'000) const {
        std::vector<std::uint64_t> found;
        for (const journal_row& each : rows(filter, most)) found.push_back(each.entry.call.number);
        return found;
    }
    void write(std::initializer_list<journal_entry> entries) {
        journal kept(options, log.sink());
        for (const journal_entry& each : entries) kept.write(each);
        EXPECT_TRUE(kept.flush(long_enough));
    }
    /// What the reader says of the file.
    [[nodiscard]] std::string reader_error() const {
        try {
            const journal_reader reader(options.path);
            return "";
        } catch (const journal_error& error) {
            return error.what();
        }
    }
};

TEST_F(journal_on_disk, keeps_everything_of_a_call) {
    const journal_entry entry = full_entry();
    write({entry});
    const auto found = rows();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].andon, ::getpid());
    const journal_entry& read = found[0].entry;
    EXPECT_EQ(read.call.number, entry.call.number);
    EXPECT_EQ(read.call.server, entry.call.server);
    EXPECT_EQ(read.call.session, entry.call.session);
    EXPECT_EQ(read.call.method, entry.call.method);
    EXPECT_EQ(read.call.tool, entry.call.tool);
    EXPECT_EQ(read.call.request_id, entry.call.request_id);
    EXPECT_EQ(read.call.traceparent, entry.call.traceparent);
    EXPECT_EQ(read.call.pid, entry.call.pid);
    EXPECT_EQ(read.call.started, entry.call.started);
    EXPECT_EQ(read.call.cause, entry.call.cause);
    EXPECT_EQ(read.call.reason, entry.call.reason);
    EXPECT_EQ(read.call.asked_by, entry.call.asked_by);
    EXPECT_EQ(read.ended, entry.ended);
    EXPECT_EQ(read.end, entry.end);
    EXPECT_EQ(read.error_code, entry.error_code);
    EXPECT_EQ(read.evidence, entry.evidence);
    EXPECT_EQ(read.ignored, entry.ignored);
    EXPECT_EQ(read.time_to_stop, entry.time_to_stop);
    EXPECT_EQ(read.late_messages, entry.late_messages);
    EXPECT_EQ(read.killed, entry.killed);
    EXPECT_THAT(log.all(), SizeIs(0));
}

TEST_F(journal_on_disk, every_word_is_read_as_it_was_written) {
    journal kept(options, log.sink());
    for (int end = 0; end <= static_cast<int>(call_end::refused); ++end) {
        journal_entry entry = small_entry(1);
        entry.end = static_cast<call_end>(end);
        entry.evidence = static_cast<stop_evidence>(end % 6);
        entry.call.cause = all_causes.at(static_cast<std::size_t>(end) % all_causes.size());
        kept.write(entry);
    }
    ASSERT_TRUE(kept.flush(long_enough));
    const auto found = rows();
    ASSERT_THAT(found, SizeIs(8));
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].entry.end, static_cast<call_end>(i));
        EXPECT_EQ(found[i].entry.evidence, static_cast<stop_evidence>(i % 6));
        EXPECT_EQ(found[i].entry.call.cause, all_causes.at(i % all_causes.size()));
    }
}

TEST_F(journal_on_disk, is_read_by_server_tool_end_time_and_whether_the_cancel_was_ignored) {
    journal_entry other = small_entry(2, "spin");
    other.call.server = "files";
    other.end = call_end::timed_out;
    other.ignored = true;
    journal_entry old = small_entry(3);
    old.ended -= 2h;
    write({small_entry(1), other, old, small_entry(4, "o'clock; --")});
    EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(numbers({}, 2), ElementsAre(3, 4));
    EXPECT_THAT(numbers({.server = "files"}), ElementsAre(2));
    EXPECT_THAT(numbers({.tool = "wait"}), ElementsAre(1, 3));
    EXPECT_THAT(numbers({.tool = "o'clock; --"}), ElementsAre(4));
    EXPECT_THAT(numbers({.end = call_end::timed_out}), ElementsAre(2));
    EXPECT_THAT(numbers({.ignored = true}), ElementsAre(2));
    EXPECT_THAT(numbers({.since = std::chrono::system_clock::now() - 1h}), ElementsAre(1, 2, 4));
    EXPECT_THAT(numbers({.server = "files", .tool = "wait"}), ElementsAre());
    journal_reader reader(options.path);
    EXPECT_THAT(reader.after(2, {}, 1), SizeIs(1));
    EXPECT_THAT(reader.after(2, {}, 100), SizeIs(2));
    EXPECT_EQ(reader.last_id(), 4);
}

journal_entry corrected(journal_entry entry, stop_evidence by) {
    entry.evidence = by;
    entry.corrects = true;
    return entry;
}

/// In one batch, in two, and with the file opened anew between them.
TEST_F(journal_on_disk, has_one_row_of_a_call_and_what_was_learnt_later_is_in_it) {
    const journal_entry first = full_entry();
    journal_entry same_number = first;  // of a process that had this one's pid before
    same_number.call.started -= 1h;
    same_number.call.tool = "earlier";
    journal_entry next = first;
    next.call.number = 13;
    next.call.tool = "next";
    write({same_number, first, corrected(first, stop_evidence::quiet), next});
    {
        journal kept(options, log.sink());
        kept.write(corrected(first, stop_evidence::unseen));
        ASSERT_TRUE(kept.flush(long_enough));
        kept.write(corrected(first, stop_evidence::answered_late));
        ASSERT_TRUE(kept.flush(long_enough));
    }
    EXPECT_THAT(numbers(), ElementsAre(12, 13, 12));
    EXPECT_THAT(numbers({.tool = "earlier"}), ElementsAre(12));
    const auto found = rows({.tool = first.call.tool});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].entry.evidence, stop_evidence::answered_late);
    EXPECT_EQ(found[0].entry.ended, first.ended);
}

TEST_F(journal_on_disk, a_correction_is_seen_by_who_follows_and_is_kept_where_the_first_word_was_lost) {
    write({small_entry(1)});
    journal_reader reader(options.path);
    const std::int64_t last = reader.last_id();
    write({corrected(small_entry(2), stop_evidence::quiet)});
    const auto told = reader.after(last, {}, 100);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].entry.call.number, 2U);
    write({corrected(told[0].entry, stop_evidence::answered_late)});
    const auto again = reader.after(told[0].id, {}, 100);
    ASSERT_THAT(again, SizeIs(1));
    EXPECT_EQ(again[0].entry.evidence, stop_evidence::answered_late);
    EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(journal_on_disk, is_for_the_user_alone_whatever_the_umask_says) {
    const mode_t before = ::umask(0);
    write({small_entry(1)});
    journal still_open(options, log.sink());
    still_open.write(small_entry(2));
    ASSERT_TRUE(still_open.flush(long_enough));
    ::umask(before);
    const auto mode = [](const std::string& path) {
        struct stat found {};
        EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
        return found.st_mode & 0777U;
    };
    EXPECT_EQ(mode(folder / "state"), 0700U);
    EXPECT_EQ(mode(options.path), 0600U);
    EXPECT_EQ(mode(options.path + "-wal"), 0600U);
}

TEST_F(journal_on_disk, is_bounded_by_rows) {
    options.bounds.max_rows = 10;
    journal kept(options, log.sink());
    for (std::uint64_t i = 1; i <= 2'000; ++i) kept.write(small_entry(i));
    ASSERT_TRUE(kept.flush(long_enough));
    EXPECT_THAT(numbers(), ElementsAre(1'991, 1'992, 1'993, 1'994, 1'995, 1'996, 1'997, 1'998, 1'999, 2'000));
    EXPECT_EQ(kept.counts().written, 2'000U);
}

TEST_F(journal_on_disk, is_bounded_by_days) {
    options.bounds.max_days = 2;
    journal_entry old = small_entry(1);
    old.ended -= 49h;
    journal_entry young = small_entry(2);
    young.ended -= 47h;
    write({old, young, small_entry(3)});
    EXPECT_THAT(numbers(), ElementsAre(2, 3));
}

TEST_F(journal_on_disk, is_written_by_many_at_once_and_begun_by_all_of_them_together) {
    constexpr std::size_t writers = 6;
    constexpr std::size_t each_writes = 300;
    options.lock_patience = long_enough;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < writers; ++i) {
        threads.emplace_back([&] {
            journal kept(options, log.sink());
            for (std::size_t n = 0; n < each_writes; ++n) kept.write(small_entry(n));
            EXPECT_TRUE(kept.flush(long_enough));
        });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_THAT(rows(), SizeIs(writers * each_writes));
    EXPECT_THAT(log.all(), SizeIs(0));
}

TEST_F(journal_on_disk, takes_entries_from_any_thread) {
    options.max_waiting = 1'000'000;
    journal kept(options, log.sink());
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (std::uint64_t n = 0; n < 500; ++n) {
                kept.write(small_entry(n));
                static_cast<void>(kept.counts());
            }
        });
    }
    for (std::thread& each : threads) each.join();
    ASSERT_TRUE(kept.flush(long_enough));
    EXPECT_THAT(rows(), SizeIs(2'000));
    EXPECT_EQ(kept.counts().waiting, 0U);
}

TEST_F(journal_on_disk, writes_at_the_end_what_is_waiting) {
    {
        journal kept(options, log.sink());
        for (std::uint64_t i = 0; i < 3'000; ++i) kept.write(small_entry(i));
    }
    EXPECT_THAT(rows(), SizeIs(3'000));
}

TEST_F(journal_on_disk, a_locked_file_holds_nobody_up_and_is_written_later) {
    write({small_entry(1)});
    journal kept(options, log.sink());
    options.lock_patience = 20ms;
    journal impatient(options, log.sink());
    {
        const stranger other(options.path);
        other.run("BEGIN IMMEDIATE");
        const auto begin = std::chrono::steady_clock::now();
        for (std::uint64_t i = 2; i < 1'000; ++i) impatient.write(small_entry(i));
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
        EXPECT_TRUE(log.has("another process keeps it locked"));
        other.run("ROLLBACK");
    }
    EXPECT_TRUE(impatient.flush(long_enough));
    EXPECT_TRUE(log.has("is written again; 0 calls are lost"));
    EXPECT_THAT(rows(), SizeIs(999));
    EXPECT_EQ(log.count("keeps it locked"), 1U) << "said once";
}

TEST_F(journal_on_disk, leaves_in_time_where_the_file_stays_locked) {
    write({small_entry(1)});
    options.leave_within = 200ms;
    const stranger other(options.path);
    other.run("BEGIN IMMEDIATE");
    const auto begin = std::chrono::steady_clock::now();
    {
        journal kept(options, log.sink());
        kept.write(small_entry(2));
        kept.write(small_entry(3));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_TRUE(log.has("lacks the last 2 calls"));
}

TEST_F(journal_on_disk, what_does_not_fit_is_counted_and_told_once) {
    write({small_entry(1)});
    options.max_waiting = 10;
    options.lock_patience = 5ms;
    journal kept(options, log.sink());
    const stranger other(options.path);
    other.run("BEGIN IMMEDIATE");
    kept.write(small_entry(2));
    ASSERT_TRUE(log.has("keeps it locked"));
    for (std::uint64_t i = 0; i < 2'000; ++i) kept.write(small_entry(i));
    EXPECT_TRUE(log.has("some are lost"));
    const std::uint64_t lost = kept.counts().lost;
    EXPECT_GT(lost, 0U);
    other.run("ROLLBACK");
    EXPECT_TRUE(kept.flush(long_enough));
    EXPECT_TRUE(log.has("written again; " + std::to_string(lost) + " calls are lost"));
    EXPECT_EQ(rows().size(), 2'002 - lost);
    EXPECT_EQ(log.count("some are lost"), 1U);
}

TEST_F(journal_on_disk, a_damaged_file_is_told_once_and_left_alone) {
    const std::string garbage(10'000, 'x');
    static_cast<void>(folder.write("state/journal.db", garbage));
    EXPECT_THAT(reader_error(), HasSubstr("is not a journal; move it away"));
    journal kept(options, log.sink());
    kept.write(small_entry(1));
    EXPECT_TRUE(log.has("is not a journal; move it away"));
    EXPECT_FALSE(kept.flush(200ms));  // many tries
    EXPECT_EQ(log.count("is not a journal"), 1U);
    EXPECT_EQ(std::filesystem::file_size(options.path), garbage.size());
    std::filesystem::rename(options.path, options.path + ".old");
    EXPECT_TRUE(kept.flush(long_enough)) << "it is moved away, and a new one is begun";
    EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(journal_on_disk, a_file_that_is_damaged_in_the_middle_does_not_crash_the_reader) {
    journal_entry entry = full_entry();
    entry.call.reason = std::string(500, 'r');
    for (int i = 0; i < 20; ++i) write({entry, entry, entry});
    stranger(options.path).run("PRAGMA wal_checkpoint(TRUNCATE)");
    std::fstream file(options.path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::streamoff at = 4'096; at < 40'000; at += 37) file.seekp(at) << "\xFF\x7F";
    file.close();
    try {
        for (const journal_row& each : rows()) EXPECT_LE(each.entry.call.reason.size(), 1'024U);
    } catch (const journal_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("damaged"));
    }
}

TEST_F(journal_on_disk, a_newer_format_is_refused_and_not_changed) {
    write({small_entry(1)});
    stranger(options.path).run("PRAGMA user_version=2");
    EXPECT_THAT(reader_error(), HasSubstr("a newer andon wrote it (format 2, and this one knows 1)"));
    {
        journal kept(options, log.sink());
        kept.write(small_entry(2));
        EXPECT_TRUE(log.has("a newer andon wrote it"));
    }
    stranger(options.path).run("PRAGMA user_version=1");
    EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(journal_on_disk, a_file_that_cannot_be_written_is_no_reason_to_stop) {
    if (::geteuid() == 0) {
        std::filesystem::create_directories(options.path);  // root may write everything but a folder
    } else {
        write({small_entry(1)});
        ASSERT_EQ(::chmod(options.path.c_str(), 0400), 0);
    }
    {
        journal kept(options, log.sink());
        kept.write(small_entry(2));
        EXPECT_TRUE(log.has("cannot be used: "));
    }
    EXPECT_TRUE(log.has("lacks the last 1 calls"));
}

TEST_F(journal_on_disk, a_disk_that_takes_no_more_is_no_reason_to_stop) {
    write({small_entry(1)});
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    journal kept(options, log.sink());
    const rlimit none{1'024, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    kept.write(small_entry(2));
    EXPECT_TRUE(log.has("cannot be used: "));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(kept.flush(long_enough)) << "there is room again";
    EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(journal_on_disk, a_folder_that_cannot_be_made_is_no_reason_to_stop) {
    static_cast<void>(folder.write("file", ""));
    options.path = folder / "file/state/journal.db";
    journal kept(options, log.sink());
    kept.write(small_entry(1));
    EXPECT_TRUE(log.has("cannot be used: its folder cannot be made"));
}

TEST_F(journal_on_disk, a_file_that_is_taken_away_is_begun_anew) {
    journal kept(options, log.sink());
    kept.write(small_entry(1));
    ASSERT_TRUE(kept.flush(long_enough));
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(options.path + end);
    kept.write(small_entry(2));
    ASSERT_TRUE(kept.flush(long_enough));
    EXPECT_THAT(numbers(), ElementsAre(2));
}

TEST_F(journal_on_disk, is_readable_after_its_writer_was_killed) {
    const pid_t child = ::fork();
    if (child == 0) {
        journal kept(options, {});
        kept.write(small_entry(1));
        ::_exit(kept.flush(long_enough) ? ::kill(::getpid(), SIGKILL) : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_THAT(numbers(), ElementsAre(1));
    write({small_entry(2)});
    EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(journal_on_disk, a_reader_says_where_nobody_has_written_yet) {
    try {
        const journal_reader reader(options.path);
        FAIL();
    } catch (const journal_error& error) {
        EXPECT_TRUE(error.missing());
    }
    static_cast<void>(folder.write("state/journal.db", ""));
    try {
        const journal_reader reader(options.path);
        FAIL();
    } catch (const journal_error& error) {
        EXPECT_TRUE(error.missing()) << "made, and not begun";
    }
    stranger(options.path).run("CREATE TABLE other(a)");
    EXPECT_THAT(reader_error(), HasSubstr("another program's file"));
}

TEST_F(journal_on_disk, MSG_4_hostile_text_is_safe_both_ways) {
    journal_entry entry = small_entry(1);
    entry.call.reason = "a\x1b[2J\nb" + std::string(1, '\0') + "c\xFF" + std::string(100'000, 'z');
    write({entry});
    stranger(options.path).run("UPDATE call SET tool = char(27) || '[31m', server = x'1b00ff'");
    const auto found = rows();
    ASSERT_THAT(found, SizeIs(1));
    const relayed_call_view& call = found[0].entry.call;
    EXPECT_LE(call.reason.size(), 1'024U);
    for (const std::string* text : {&call.reason, &call.tool, &call.server}) {
        EXPECT_EQ(text->find_first_of(std::string("\x1b\n\0", 3)), std::string::npos) << *text;
    }
}

TEST(journal_path, is_in_the_state_directory_unless_the_file_says_so) {
    const own_variable state("ANDON_STATE_DIR", "/somewhere");
    EXPECT_EQ(journal_path({}), "/somewhere/journal.db");
    EXPECT_EQ(journal_path({.path = "/else/j.db"}), "/else/j.db");
    const journal_options options = journal_options_of({.max_rows = 5, .max_days = 6});
    EXPECT_EQ(options.bounds.max_rows, 5U);
    EXPECT_EQ(options.bounds.max_days, 6U);
}

}  // namespace
}  // namespace andon::gateway
