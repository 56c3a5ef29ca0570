#include "gateway/journal/file_watch.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include "gateway/journal/journal.hpp"
#include "gateway/journal/journal_reader.hpp"
#include "gateway/journal_entries.hpp"
#include "own_folder.hpp"

namespace andon::gateway {
namespace {

using namespace std::chrono_literals;

bool wakes(const file_watch& watch, int within_ms = 10'000) {
    pollfd ready{watch.descriptor(), POLLIN, 0};
    return ::poll(&ready, 1, within_ms) == 1;
}

TEST(file_watch, wakes_when_its_file_comes_changes_and_goes_and_for_no_other) {
    const own_folder folder;
    file_watch watch(folder / "new/a.db");
    static_cast<void>(folder.write("new/other", "x"));
    static_cast<void>(folder.write("new/a.db-shm", "x"));
    ASSERT_TRUE(wakes(watch));
    EXPECT_FALSE(watch.changed());
    static_cast<void>(folder.write("new/a.db", "x"));
    ASSERT_TRUE(wakes(watch));
    EXPECT_TRUE(watch.changed());
    EXPECT_FALSE(watch.changed());
    static_cast<void>(folder.write("new/a.db-wal", "x"));
    EXPECT_TRUE(watch.changed());
    std::filesystem::remove(folder / "new/a.db");
    EXPECT_TRUE(watch.changed());
    std::filesystem::remove_all(folder / "new");
    EXPECT_THROW(static_cast<void>(watch.changed()), std::runtime_error);
}

TEST(file_watch, says_where_a_folder_cannot_be_watched) {
    const own_folder folder;
    static_cast<void>(folder.write("file", ""));
    EXPECT_THROW(const file_watch watch(folder / "file/a.db"), std::system_error);
}

/// Each row alone, so that no later one can make up for a wake-up that was lost.
TEST(file_watch, who_follows_the_journal_misses_no_row) {
    const own_folder folder;
    const journal_options options{.path = folder / "journal.db"};
    journal kept(options, {});
    kept.write(small_entry(0));
    ASSERT_TRUE(kept.flush(20s));
    file_watch watch(options.path);
    journal_reader reader(options.path);
    std::int64_t last = reader.last_id();
    for (std::uint64_t i = 1; i <= 300; ++i) {
        kept.write(small_entry(i));
        std::vector<journal_row> found;
        while (found.empty()) {
            ASSERT_TRUE(wakes(watch)) << "row " << i;
            if (watch.changed()) found = reader.after(last, {}, 10);
        }
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].entry.call.number, i);
        last = found[0].id;
    }
}

}  // namespace
}  // namespace andon::gateway
