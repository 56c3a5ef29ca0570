#include <sqlite3.h>

#include "andon/tasks/task_store.hpp"

namespace andon {
namespace {

using std::chrono::milliseconds;

constexpr int format = 1;

// The owner's list and the expiry have indexes: nothing here grows with what is kept. The unfinished ones are few.
constexpr const char* schema = R"(
CREATE TABLE IF NOT EXISTS task (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, label TEXT NOT NULL, status INTEGER NOT NULL, message TEXT NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL, ttl INTEGER, expires INTEGER, result TEXT NOT NULL,
    error TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS task_of_owner ON task(owner, created, id);
CREATE INDEX IF NOT EXISTS task_end ON task(expires) WHERE expires IS NOT NULL;
CREATE INDEX IF NOT EXISTS task_unfinished ON task(status) WHERE status < 2;
)";

constexpr const char* all_but_results = "id, owner, label, status, message, created, updated, ttl";

class sqlite_store final : public task_store {
public:
    explicit sqlite_store(const std::string& path) : path_(path) {
        sqlite3* opened = nullptr;
        const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
        const int result = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
        base_.reset(opened);
        if (result != SQLITE_OK) fail("cannot be opened");
        // Said here: a lock on it fails in ways that tell nobody why.
        if (sqlite3_db_readonly(opened, "main") == 1) {
            throw task_store_error("the task store " + path_ + " cannot be written: it is read-only");
        }
        sqlite3_extended_result_codes(opened, 1);
        // The lock first, and for as long as we live: whoever comes second must not take our tasks for dead ones. Every
        // commit is on the disk when it returns.
        run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; BEGIN EXCLUSIVE; "
            "COMMIT;");
        const int found = number("PRAGMA user_version");
        if (found != 0 && found != format) {
            throw task_store_error("the task store " + path_ + " is of format " + std::to_string(found) +
                                   ", and this program knows format " + std::to_string(format));
        }
        run(schema);
        run(("PRAGMA user_version=" + std::to_string(format)).c_str());
        put_ = prepared(
            "INSERT INTO task VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11) ON CONFLICT(id) DO UPDATE SET status=?4, "
            "message=?5, updated=?7, ttl=?8, expires=?9, result=?10, error=?11");
        find_ =
            prepared(std::string("SELECT ") + all_but_results + ", result, error FROM task WHERE id=?1 AND owner=?2");
        list_ = prepared(std::string("SELECT ") + all_but_results +
                         " FROM task WHERE owner=?1 AND (created, id) > (?2, ?3) ORDER BY created, id LIMIT ?4");
        forget_ = prepared("DELETE FROM task WHERE id IN (SELECT id FROM task WHERE expires <= ?1 LIMIT ?2)");
        fail_ = prepared("UPDATE task SET status=3, message=?1, updated=?2 WHERE status < 2");
        count_ = prepared("SELECT count(*) FROM task");
    }

    void write(std::span<const task_record> tasks) override {
        const transaction all(*this);
        for (const task_record& each : tasks) {
            bound put(*this, put_);
            put.text(1, each.id);
            put.text(2, each.owner);
            put.text(3, each.label);
            put.integer(4, static_cast<std::int64_t>(each.status));
            put.text(5, each.status_message);
            put.integer(6, each.created.time_since_epoch().count());
            put.integer(7, each.updated.time_since_epoch().count());
            if (const auto ends = each.expires()) {
                put.integer(8, each.ttl->count());
                put.integer(9, ends->time_since_epoch().count());
            }
            put.text(10, each.raw_result);
            put.text(11, each.raw_error);
            static_cast<void>(put.step());
        }
        all.commit();
    }

    std::optional<task_record> find(std::string_view id, std::string_view owner) override {
        bound find(*this, find_);
        find.text(1, id);
        find.text(2, owner);
        if (!find.step()) return std::nullopt;
        task_record task = find.task();
        task.raw_result = find.text_at(8);
        task.raw_error = find.text_at(9);
        return task;
    }

    std::vector<task_record> list(std::string_view owner, const task_place& after, std::size_t most) override {
        bound list(*this, list_);
        list.text(1, owner);
        list.integer(2, after.created.time_since_epoch().count());
        list.text(3, after.id);
        list.integer(4, static_cast<std::int64_t>(most));
        std::vector<task_record> page;
        while (list.step()) page.push_back(list.task());
        return page;
    }

    std::size_t forget_expired(task_time now, std::size_t most) override {
        bound forget(*this, forget_);
        forget.integer(1, now.time_since_epoch().count());
        forget.integer(2, static_cast<std::int64_t>(most));
        static_cast<void>(forget.step());
        return static_cast<std::size_t>(sqlite3_changes(base_.get()));
    }

    std::size_t fail_unfinished(task_time now, std::string_view message) override {
        bound fail(*this, fail_);
        fail.text(1, message);
        fail.integer(2, now.time_since_epoch().count());
        static_cast<void>(fail.step());
        return static_cast<std::size_t>(sqlite3_changes(base_.get()));
    }

    std::size_t size() override {
        bound count(*this, count_);
        static_cast<void>(count.step());
        return static_cast<std::size_t>(count.integer_at(0));
    }

private:
    struct closes {
        void operator()(sqlite3* base) const noexcept { sqlite3_close_v2(base); }
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };
    using statement = std::unique_ptr<sqlite3_stmt, closes>;

    /// A statement with its values, for as long as they are needed.
    class bound {
    public:
        bound(sqlite_store& in, const statement& of) noexcept : in_(&in), of_(of.get()) {}
        ~bound() {
            sqlite3_reset(of_);
            sqlite3_clear_bindings(of_);
        }
        bound(const bound&) = delete;
        bound& operator=(const bound&) = delete;

        // The text must stay until the statement is over.
        void text(int place, std::string_view value) {
            in_->expect(sqlite3_bind_text64(of_, place, value.data() == nullptr ? "" : value.data(), value.size(),
                                            SQLITE_STATIC, SQLITE_UTF8));
        }
        void integer(int place, std::int64_t value) { in_->expect(sqlite3_bind_int64(of_, place, value)); }
        /// Whether there is a row.
        [[nodiscard]] bool step() {
            const int result = sqlite3_step(of_);
            if (result != SQLITE_ROW && result != SQLITE_DONE) in_->fail("cannot be used");
            return result == SQLITE_ROW;
        }
        [[nodiscard]] std::int64_t integer_at(int column) const { return sqlite3_column_int64(of_, column); }
        [[nodiscard]] std::string text_at(int column) const {
            const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(of_, column));
            const auto size = static_cast<std::size_t>(sqlite3_column_bytes(of_, column));
            return bytes == nullptr ? std::string() : std::string(bytes, size);
        }
        [[nodiscard]] task_record task() const {
            task_record task{.id = text_at(0),
                             .owner = text_at(1),
                             .label = text_at(2),
                             .status = static_cast<task_status>(integer_at(3)),
                             .status_message = text_at(4),
                             .created = task_time(milliseconds(integer_at(5))),
                             .updated = task_time(milliseconds(integer_at(6)))};
            if (sqlite3_column_type(of_, 7) != SQLITE_NULL) task.ttl = milliseconds(integer_at(7));
            return task;
        }

    private:
        sqlite_store* in_;
        sqlite3_stmt* of_;
    };

    /// All or nothing. What it has not committed is taken back.
    class transaction {
    public:
        explicit transaction(sqlite_store& in) : in_(&in) { in.run("BEGIN IMMEDIATE"); }
        ~transaction() {
            if (sqlite3_get_autocommit(in_->base_.get()) == 0) {
                sqlite3_exec(in_->base_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
            }
        }
        transaction(const transaction&) = delete;
        transaction& operator=(const transaction&) = delete;
        void commit() const { in_->run("COMMIT"); }

    private:
        sqlite_store* in_;
    };

    [[noreturn]] void fail(std::string_view what) const {
        const int code = base_ ? sqlite3_extended_errcode(base_.get()) : SQLITE_NOMEM;
        std::string why;
        switch (code & 0xFF) {
            case SQLITE_BUSY:
            case SQLITE_LOCKED: why = "another process uses it"; break;
            case SQLITE_FULL: why = "the disk is full"; break;
            case SQLITE_READONLY: why = "it is read-only"; break;
            case SQLITE_NOTADB: why = "the file is not a task store"; break;
            case SQLITE_CORRUPT: why = "the file is damaged"; break;
            default: why = base_ ? sqlite3_errmsg(base_.get()) : "no memory";
        }
        throw task_store_error("the task store " + path_ + " " + std::string(what) + ": " + why);
    }
    void expect(int result) const {
        if (result != SQLITE_OK) fail("cannot be used");
    }
    void run(const char* sql) const { expect(sqlite3_exec(base_.get(), sql, nullptr, nullptr, nullptr)); }
    [[nodiscard]] statement prepared(std::string_view sql) const {
        sqlite3_stmt* made = nullptr;
        expect(sqlite3_prepare_v3(base_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                  &made, nullptr));
        return statement(made);
    }
    [[nodiscard]] int number(const char* sql) {
        const statement asks = prepared(sql);
        bound answer(*this, asks);
        return answer.step() ? static_cast<int>(answer.integer_at(0)) : 0;
    }

    std::string path_;
    std::unique_ptr<sqlite3, closes> base_;
    statement put_;
    statement find_;
    statement list_;
    statement forget_;
    statement fail_;
    statement count_;
};

}  // namespace

std::unique_ptr<task_store> sqlite_task_store(const std::string& path) { return std::make_unique<sqlite_store>(path); }

}  // namespace andon
