// SQLite for the journal: a connection, a statement with its values, errors in words.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace andon::gateway {

/// The message is for a person, names the file, and is safe to show.
class journal_error : public std::runtime_error {
public:
    journal_error(const std::string& what, bool missing = false) : std::runtime_error(what), missing_(missing) {}
    /// There is no file, or nothing in it yet: nobody has written.
    [[nodiscard]] bool missing() const noexcept { return missing_; }

private:
    bool missing_;
};

class sqlite_statement;

class sqlite_base {
public:
    enum class access : std::uint8_t { read, write };
    /// A file that is to be written is made if need be. Throws journal_error, as everything here.
    sqlite_base(const std::string& path, access how);

    void run(const char* sql) const;
    /// A value of one row; 0: there is none.
    [[nodiscard]] std::int64_t number(const char* sql);
    [[nodiscard]] sqlite_statement statement(std::string_view sql);
    [[nodiscard]] bool in_transaction() const noexcept;
    [[nodiscard]] sqlite3* handle() const noexcept { return base_.get(); }
    [[noreturn]] void fail() const;

private:
    struct closes {
        void operator()(sqlite3* base) const noexcept;
    };
    std::string path_;
    std::unique_ptr<sqlite3, closes> base_;
};

/// Prepared once, used often. Not longer than its base.
class sqlite_statement {
public:
    sqlite_statement(const sqlite_base& in, sqlite3_stmt* of) noexcept : in_(&in), of_(of) {}

    /// Begins anew, without values.
    void reset() noexcept;
    void text(int place, std::string_view value);
    void integer(int place, std::int64_t value);
    /// Whether there is a row.
    [[nodiscard]] bool step();
    void run() { static_cast<void>(step()); }
    [[nodiscard]] std::int64_t integer_at(int column) const noexcept;
    [[nodiscard]] bool null_at(int column) const noexcept;
    /// At most `most` bytes of it, safe to show.
    [[nodiscard]] std::string text_at(int column, std::size_t most) const;

private:
    struct finalizes {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    const sqlite_base* in_;
    std::unique_ptr<sqlite3_stmt, finalizes> of_;
};

/// All or nothing. What it has not committed is taken back.
class sqlite_transaction {
public:
    explicit sqlite_transaction(const sqlite_base& in) : in_(&in) { in.run("BEGIN IMMEDIATE"); }
    ~sqlite_transaction();
    sqlite_transaction(const sqlite_transaction&) = delete;
    sqlite_transaction& operator=(const sqlite_transaction&) = delete;
    void commit() const { in_->run("COMMIT"); }

private:
    const sqlite_base* in_;
};

}  // namespace andon::gateway
