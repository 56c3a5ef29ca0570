#include "gateway/journal/sqlite_base.hpp"

#include <sqlite3.h>

#include "andon/core/visible_text.hpp"

namespace andon::gateway {
namespace {

constexpr std::size_t longest_path = 400;

}  // namespace

void sqlite_base::closes::operator()(sqlite3* base) const noexcept { sqlite3_close_v2(base); }

sqlite_base::sqlite_base(const std::string& path, access how) : path_(path) {
    sqlite3* opened = nullptr;
    const int flags = (how == access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    const int result = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
    base_.reset(opened);
    if (result != SQLITE_OK) fail();
    if (how == access::write && sqlite3_db_readonly(opened, "main") == 1) {
        throw journal_error("the journal " + visible_text(path_, longest_path) + " cannot be used: it is read-only");
    }
    sqlite3_extended_result_codes(opened, 1);
    // Whatever a stranger's file says, nothing in it is run.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, 1 << 20U);
}

void sqlite_base::fail() const {
    const int code = base_ ? sqlite3_extended_errcode(base_.get()) : SQLITE_NOMEM;
    std::string why;
    switch (code & 0xFF) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED: why = "another process keeps it locked"; break;
        case SQLITE_FULL: why = "the disk is full"; break;
        case SQLITE_READONLY: why = "it is read-only"; break;
        case SQLITE_NOTADB: why = "the file is not a journal; move it away"; break;
        case SQLITE_CORRUPT: why = "the file is damaged; move it away"; break;
        case SQLITE_CANTOPEN: why = "it cannot be opened"; break;
        default: why = base_ ? visible_text(sqlite3_errmsg(base_.get()), longest_path) : "no memory";
    }
    throw journal_error("the journal " + visible_text(path_, longest_path) + " cannot be used: " + why);
}

void sqlite_base::run(const char* sql) const {
    if (sqlite3_exec(base_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t sqlite_base::number(const char* sql) {
    sqlite_statement asks = statement(sql);
    return asks.step() ? asks.integer_at(0) : 0;
}

sqlite_statement sqlite_base::statement(std::string_view sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(base_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &made,
                           nullptr) != SQLITE_OK) {
        fail();
    }
    return {*this, made};
}

bool sqlite_base::in_transaction() const noexcept { return sqlite3_get_autocommit(base_.get()) == 0; }

void sqlite_statement::finalizes::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

void sqlite_statement::reset() noexcept {
    sqlite3_reset(of_.get());
    sqlite3_clear_bindings(of_.get());
}

void sqlite_statement::text(int place, std::string_view value) {
    const char* const bytes = value.data() == nullptr ? "" : value.data();
    if (sqlite3_bind_text64(of_.get(), place, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK) {
        in_->fail();
    }
}

void sqlite_statement::integer(int place, std::int64_t value) {
    if (sqlite3_bind_int64(of_.get(), place, value) != SQLITE_OK) in_->fail();
}

bool sqlite_statement::step() {
    const int result = sqlite3_step(of_.get());
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        sqlite3_reset(of_.get());
        in_->fail();
    }
    return result == SQLITE_ROW;
}

std::int64_t sqlite_statement::integer_at(int column) const noexcept { return sqlite3_column_int64(of_.get(), column); }

bool sqlite_statement::null_at(int column) const noexcept {
    return sqlite3_column_type(of_.get(), column) == SQLITE_NULL;
}

std::string sqlite_statement::text_at(int column, std::size_t most) const {
    const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(of_.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(of_.get(), column));
    return bytes == nullptr ? std::string() : visible_text(std::string_view(bytes, size), most);
}

sqlite_transaction::~sqlite_transaction() {
    if (in_->in_transaction()) sqlite3_exec(in_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace andon::gateway
