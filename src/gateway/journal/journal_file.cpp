#include "gateway/journal/journal_file.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <sqlite3.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "andon/core/visible_text.hpp"

namespace andon::gateway {
namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

// Words instead of numbers, so that whoever opens it with another program can read it. Ids are never used again: who
// follows asks for those above the last that he saw.
constexpr const char* schema = R"(
CREATE TABLE IF NOT EXISTS call (
    id INTEGER PRIMARY KEY AUTOINCREMENT, andon INTEGER NOT NULL, number INTEGER NOT NULL, server TEXT NOT NULL,
    session TEXT NOT NULL, method TEXT NOT NULL, tool TEXT NOT NULL, request_id TEXT NOT NULL, traceparent TEXT NOT NULL,
    pid INTEGER NOT NULL, started_us INTEGER NOT NULL, ended_us INTEGER NOT NULL, "end" TEXT NOT NULL,
    error_code INTEGER NOT NULL, cause TEXT, reason TEXT NOT NULL, asked_by TEXT NOT NULL, evidence TEXT NOT NULL,
    ignored INTEGER NOT NULL, time_to_stop_us INTEGER, late_messages INTEGER NOT NULL, killed INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS call_ended ON call(ended_us);
CREATE INDEX IF NOT EXISTS call_number ON call(andon, number);
)";

constexpr auto between_looks = std::chrono::milliseconds(5);

std::int64_t micros(system_clock::time_point at) {
    return std::chrono::duration_cast<microseconds>(at.time_since_epoch()).count();
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw journal_error("the journal " + visible_text(path, 400) + " cannot be used: " + why);
}

/// Made beforehand: SQLite would let the user's umask decide, and gives its other files the rights of this one.
const std::string& made_private(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::exists(folder, error)) {
        std::filesystem::create_directories(folder.parent_path(), error);
        if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
            refuse(path, "its folder cannot be made: " + std::generic_category().message(errno));
        }
    }
    // Never opened if it is there: closing it would take away the locks of another connection in this process.
    const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (made >= 0) {
        ::close(made);
    } else if (errno != EEXIST) {
        refuse(path, std::generic_category().message(errno));
    } else {
        struct stat found {};
        if (::stat(path.c_str(), &found) == 0 && found.st_uid == ::geteuid() && (found.st_mode & 077U) != 0 &&
            S_ISREG(found.st_mode)) {
            static_cast<void>(::chmod(path.c_str(), found.st_mode & 0700U));
        }
    }
    return path;
}

}  // namespace

void expect_journal_format(std::int64_t found, const std::string& path) {
    if (found <= journal_format) return;
    refuse(path, "a newer andon wrote it (format " + std::to_string(found) + ", and this one knows " +
                     std::to_string(journal_format) + "); use that one, or move the file away");
}

std::optional<file_identity> identity_of(const std::string& path) noexcept {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return file_identity{found.st_dev, found.st_ino};
}

int journal_file::busy(void* file, int times) {
    if (!static_cast<journal_file*>(file)->patience_(between_looks * times)) return 0;
    std::this_thread::sleep_for(between_looks);
    return 1;
}

journal_file::journal_file(const std::string& path, const journal_bounds& bounds,
                           std::function<bool(duration waited)> patience)
    : path_(path),
      bounds_(bounds),
      patience_(std::move(patience)),
      base_(made_private(path), sqlite_base::access::write),
      identity_(identity_of(path)) {
    sqlite3_busy_handler(base_.handle(), &journal_file::busy, this);
    // Before anything is changed in it.
    expect_journal_format(base_.number("PRAGMA user_version"), path_);
    // Readers and writers do not wait for each other with it. Two who begin at once may be refused, and then find that
    // the other has done it.
    sqlite3_exec(base_.handle(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    base_.run("PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=4194304");
    {
        const sqlite_transaction all(base_);
        expect_journal_format(base_.number("PRAGMA user_version"), path_);
        base_.run(schema);
        base_.run(("PRAGMA user_version=" + std::to_string(journal_format)).c_str());
        all.commit();
    }
    put_ = base_.statement(
        "INSERT INTO call(andon, number, server, session, method, tool, request_id, traceparent, pid, started_us, "
        "ended_us, \"end\", error_code, cause, reason, asked_by, evidence, ignored, time_to_stop_us, late_messages, "
        "killed) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    take_back_ = base_.statement("DELETE FROM call WHERE andon=? AND number=? AND started_us=?");
    forget_old_ = base_.statement("DELETE FROM call WHERE ended_us < ?");
    forget_many_ = base_.statement("DELETE FROM call WHERE id <= (SELECT max(id) FROM call) - ?");
}

void journal_file::write(std::span<const journal_entry> entries) {
    const sqlite_transaction all(base_);
    for (const journal_entry& each : entries) {
        sqlite_statement& put = *put_;
        put.reset();
        const relayed_call_view& call = each.call;
        if (each.corrects) {
            take_back_->reset();
            take_back_->integer(1, ::getpid());
            take_back_->integer(2, static_cast<std::int64_t>(call.number));
            take_back_->integer(3, micros(call.started));
            take_back_->run();
        }
        int place = 0;
        const auto text = [&](std::string_view value) { put.text(++place, visible_text(value, longest_journal_text)); };
        const auto number = [&](auto value) { put.integer(++place, static_cast<std::int64_t>(value)); };
        number(::getpid());
        number(call.number);
        text(call.server);
        text(call.session);
        text(call.method);
        text(call.tool);
        text(call.request_id);
        text(call.traceparent);
        number(call.pid);
        number(micros(call.started));
        number(micros(each.ended));
        text(to_string(each.end));
        number(each.error_code);
        ++place;
        if (call.cause) put.text(place, to_string(*call.cause));
        text(call.reason);
        text(call.asked_by);
        text(to_string(each.evidence));
        number(each.ignored ? 1 : 0);
        ++place;
        if (each.time_to_stop) {
            put.integer(place, std::chrono::duration_cast<microseconds>(*each.time_to_stop).count());
        }
        number(each.late_messages);
        number(each.killed);
        put.run();
    }
    forget_old_->reset();
    forget_old_->integer(1, micros(system_clock::now() - std::chrono::hours(24) * bounds_.max_days));
    forget_old_->run();
    forget_many_->reset();
    forget_many_->integer(1, static_cast<std::int64_t>(bounds_.max_rows));
    forget_many_->run();
    put_->reset();
    take_back_->reset();
    forget_old_->reset();
    forget_many_->reset();
    all.commit();
    // Who follows watches the files. That the commit is whole is written to mapped memory, which nobody can watch; so
    // the file is touched once it is.
    static_cast<void>(::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0));
}

}  // namespace andon::gateway
