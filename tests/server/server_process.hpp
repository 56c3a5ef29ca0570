// everything_server as a process of its own: raw bytes in, lines and marks out.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "andon/process/process_tree.hpp"
#include "andon/wire/revision.hpp"
#include "built_programs.hpp"

namespace andon {

namespace json = boost::json;

/// The "under a second"; a sanitizer makes everything slower, the kernel's work at the end most of all.
inline const std::chrono::seconds promptly{sanitized ? 10 : 1};

/// A bound on memory, in KiB: none where a sanitizer has its own ways with it.
inline long kibibytes(long bound) { return sanitized ? std::numeric_limits<long>::max() : bound; }

/// What a client of one revision writes. Ids, arguments and members of `_meta` are JSON already, so that tests say
/// exactly which bytes go over the wire.
[[nodiscard]] std::string request_line(revision speaks, std::string_view raw_id, std::string_view method,
                                       std::string_view raw_members, std::string_view raw_meta = {});
[[nodiscard]] std::string call_line(revision speaks, std::string_view raw_id, std::string_view tool,
                                    std::string_view raw_arguments = "{}", std::string_view raw_meta = {});
[[nodiscard]] std::string cancel_line(std::string_view raw_id, std::string_view raw_reason = {});
/// `{"key":"KEY"}`, and more members if there are any.
[[nodiscard]] std::string with_key(std::string_view key, std::string_view raw_members = {});

/// Any program in place of everything_server.
struct whole_command {
    std::vector<std::string> argv;
    std::vector<std::string> environment{};
};

/// Every wait is for an event. One that does not come ends the test with what was heard instead.
///
/// Started with posix_spawn and not as a process_tree: that would itself end what the server leaves behind.
class server_process {
public:
    explicit server_process(revision speaks, const std::vector<std::string>& environment = {},
                            const std::vector<std::string>& arguments = {});
    server_process(revision speaks, whole_command what);
    server_process(const server_process&) = delete;
    server_process& operator=(const server_process&) = delete;
    virtual ~server_process();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] revision speaks() const noexcept { return speaks_; }
    [[nodiscard]] bool modern() const noexcept { return era_of(speaks_) == era::modern; }

    // What goes in.

    /// False: nobody reads it any more.
    bool write(std::string_view bytes);
    void send(std::string_view line) { write(std::string(line) + '\n'); }
    /// The handshake, where the revision has one.
    void open();
    void call(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments = "{}",
              std::string_view raw_meta = {}) {
        send(call_line(speaks_, raw_id, tool, raw_arguments, raw_meta));
    }
    void cancel(std::string_view raw_id, std::string_view raw_reason = {}) { send(cancel_line(raw_id, raw_reason)); }
    void close_input();
    void close_output();
    void close_log();
    /// While false the pipe fills up.
    void read_output(bool wanted) noexcept { reads_output_ = wanted; }

    // What comes out.

    /// Every line so far.
    [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }
    /// Waits for the answer with that id, in these very bytes, that was not taken yet.
    json::object answer(std::string_view raw_id);
    /// Whether answer() would return at once.
    [[nodiscard]] bool untaken(std::string_view raw_id) const { return find_untaken(raw_id) < lines_.size(); }
    /// Waits for a line that has the text and was not taken yet.
    std::string line_with(std::string_view text);
    /// Everything that was written before this is known to have been heard; and the server is alive.
    void fence();
    /// Uses the id again until it is let in: from then on the earlier request is over. How often it was used.
    int until_free(std::string_view raw_id);
    /// Lines from there on that have the text.
    [[nodiscard]] int heard(std::string_view text, std::size_t from = 0) const;
    [[nodiscard]] int answers(std::string_view raw_id, std::size_t from = 0) const;

    // What comes out of standard error.

    /// Waits for `@what key`; the words behind it.
    std::string mark(std::string_view what, std::string_view key);
    [[nodiscard]] bool marked(std::string_view what, std::string_view key);
    /// Waits for a line of the log that has the text.
    std::string logged(std::string_view text);
    [[nodiscard]] int times_logged(std::string_view text);
    /// All that have it, so far.
    [[nodiscard]] std::vector<std::string> log_lines(std::string_view text);
    /// The last line of the log, so far, that has all of these; empty: there is none.
    [[nodiscard]] std::string log_line_with(const std::vector<std::string>& texts);

    // The process.

    void wait_until(const std::function<bool()>& done, std::string_view what);
    exit_status exit();
    /// In KiB: VmRSS, VmHWM, Threads...
    [[nodiscard]] long status(std::string_view field) const;
    [[nodiscard]] std::size_t descriptors() const;

private:
    [[nodiscard]] std::size_t find_untaken(std::string_view raw_id) const;
    /// False: nothing came within the time.
    bool pump(int limit_ms, bool also_writable);
    /// Takes in what was written before now.
    void catch_up();
    void take_in(int& fd, std::string& partial, std::vector<std::string>& whole);
    [[nodiscard]] std::string all_heard() const;

    revision speaks_;
    pid_t pid_ = -1;
    int pidfd_ = -1;
    int in_ = -1;
    int out_ = -1;
    int err_ = -1;
    bool reads_output_ = true;
    std::size_t pieces_ = 0;  // read so far
    int fences_ = 0;
    std::optional<exit_status> exited_;
    std::string partial_line_;
    std::string partial_log_;
    std::vector<std::string> lines_;
    std::vector<bool> taken_;
    std::vector<std::string> log_;
};

/// The code of an error answer; 0 for a result.
[[nodiscard]] int code_of(const json::object& answer);
[[nodiscard]] std::string message_of(const json::object& answer);
/// The text of a tool's result.
[[nodiscard]] std::string text_of(const json::object& answer);

/// For INSTANTIATE_TEST_SUITE_P over all_revisions.
struct revision_name {
    std::string operator()(const testing::TestParamInfo<revision>& each) const;
};
[[nodiscard]] std::string name_of(revision which);

/// A server that has shaken hands, in every revision.
class served : public testing::TestWithParam<revision> {
protected:
    void SetUp() override { server.open(); }
    [[nodiscard]] static bool modern() { return era_of(GetParam()) == era::modern; }

    server_process server{GetParam()};
};

}  // namespace andon
