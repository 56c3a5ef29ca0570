#include "transport/http/response_reader.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "andon/core/visible_text.hpp"
#include "transport/http/end_of_head.hpp"

namespace andon::detail {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

constexpr std::string_view beginning = "HTTP/1.";

std::string_view view(beast::string_view text) noexcept { return {text.data(), text.size()}; }

struct response_head {
    unsigned status = 0;
    std::string status_text;
    std::vector<std::pair<std::string, std::string>> headers;
};

/// One message: what Beast has found is noted here.
class message_parser final : public http::basic_parser<false> {
public:
    message_parser() {
        body_limit(boost::none);
        header_limit(std::numeric_limits<std::uint32_t>::max());  // we count ourselves, over all reads
    }

    response_head head;
    std::string_view piece;

    [[nodiscard]] bool between_chunks() const { return is_header_done() && chunked() && chunk_left_ == 0; }

private:
    using error = beast::error_code;
    using text = beast::string_view;

    void on_request_impl(http::verb, text, text, int, error&) override {}
    void on_response_impl(int code, text reason, int, error&) override {
        head.status = static_cast<unsigned>(code);
        head.status_text = std::to_string(code);
        if (!reason.empty()) head.status_text += ' ' + visible_text(view(reason), 128);
    }
    void on_field_impl(http::field, text name, text value, error&) override {
        head.headers.emplace_back(lower(view(name)), view(value));
    }
    void on_header_impl(error&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error&) override {}
    std::size_t on_body_impl(text body, error&) override {
        piece = view(body);
        return body.size();
    }
    void on_chunk_header_impl(std::uint64_t size, text, error&) override { chunk_left_ = size; }
    std::size_t on_chunk_body_impl(std::uint64_t, text body, error&) override {
        piece = view(body);
        chunk_left_ -= body.size();
        return body.size();
    }
    void on_finish_impl(error&) override {}

    std::uint64_t chunk_left_ = 0;
};

}  // namespace

class response_reader::parsing {
public:
    explicit parsing(std::size_t longest_head) : longest_head_(longest_head) { parser_.emplace(); }

    void add(std::string_view bytes) {
        begun = begun || !bytes.empty();
        waiting_.erase(0, std::exchange(parsed_, 0));
        waiting_ += bytes;
    }
    [[nodiscard]] step next();
    [[nodiscard]] step finish();

    [[nodiscard]] const response_head& head() const noexcept { return parser_->head; }
    [[nodiscard]] std::string_view piece() const noexcept { return parser_->piece; }
    [[nodiscard]] bool reusable() const noexcept {
        return parser_->is_done() && parser_->keep_alive() && parsed_ == waiting_.size();
    }

    bool begun = false;
    std::string error;

private:
    step fail(std::string why) {
        error = std::move(why);
        return step::failed;
    }
    [[nodiscard]] std::string_view rest() const noexcept { return std::string_view(waiting_).substr(parsed_); }
    void put(std::string_view bytes, beast::error_code& failed) {
        parser_->piece = {};
        const std::size_t taken = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), failed);
        parsed_ += taken;
        beside_ += taken;
        if (!piece().empty()) beside_ = 0;
    }

    std::size_t longest_head_;
    std::optional<message_parser> parser_;
    std::string waiting_;       // what has come and is not handed out yet
    std::size_t parsed_ = 0;    // of it
    std::size_t searched_ = 0;  // of the rest: the head does not end there
    std::size_t beside_ = 0;    // bytes of the head, or of what stands between two chunks of the body
    bool head_told_ = false;
};

response_reader::step response_reader::parsing::next() {
    for (;;) {
        if (!error.empty()) return step::failed;
        if (head_told_ && parser_->is_done()) return step::end;
        if (rest().empty()) return step::more;
        std::string_view bytes = rest();
        beast::error_code failed;
        if (!parser_->is_header_done()) {
            // Who speaks another protocol may wait for us, and never come to an end.
            if (!beginning.starts_with(bytes.substr(0, beginning.size()))) return fail("it is no HTTP");
            // Beast gets it when it is whole: what it says of half a head depends on where that is cut.
            const std::size_t end = bytes.find(end_of_head, searched_);
            if (end == std::string_view::npos) {
                searched_ = bytes.size() - std::min(bytes.size(), end_of_head.size() - 1);
                failed = http::error::need_more;
            } else {
                bytes = bytes.substr(0, end + end_of_head.size());
                searched_ = 0;
            }
        }
        // An assertion of Beast's wants to see that much; more comes in any case.
        if (parser_->between_chunks() && bytes.size() < 5) failed = http::error::need_more;
        if (!failed) put(bytes, failed);
        if (beside_ + (failed ? rest().size() : 0) > longest_head_) return fail("its head has no end");
        if (failed == http::error::need_more) return step::more;
        if (failed) return fail("it is no HTTP: " + failed.message());
        if (!head_told_ && parser_->is_header_done()) {
            const unsigned status = head().status;
            if (status == 101) return fail("it speaks another protocol from here on");
            if (status < 100) return fail("it is no HTTP: there is no status " + std::to_string(status));
            if (status < 200) {
                parser_.emplace();
                continue;
            }
            head_told_ = true;
            beside_ = 0;
            return step::head;
        }
        if (!piece().empty()) return step::body;
    }
}

response_reader::step response_reader::parsing::finish() {
    if (!error.empty()) return step::failed;
    if (!head_told_) return fail("the connection ended before its head");
    beast::error_code failed;
    if (!parser_->is_done()) parser_->put_eof(failed);
    return failed ? fail("the connection ended in the middle of it") : step::end;
}

response_reader::response_reader(std::size_t longest_head) : parsing_(std::make_unique<parsing>(longest_head)) {}
response_reader::~response_reader() = default;

void response_reader::add(std::string_view bytes) { parsing_->add(bytes); }
response_reader::step response_reader::next() { return parsing_->next(); }
response_reader::step response_reader::finish() { return parsing_->finish(); }

bool response_reader::begun() const noexcept { return parsing_->begun; }
unsigned response_reader::status() const noexcept { return parsing_->head().status; }
const std::string& response_reader::status_text() const noexcept { return parsing_->head().status_text; }

std::string_view response_reader::header(std::string_view name) const noexcept {
    for (const auto& [each, value] : parsing_->head().headers) {
        if (each == name) return value;
    }
    return {};
}

std::string response_reader::media_type() const {
    std::string_view type = header("content-type");
    type = type.substr(0, type.find(';'));
    while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
    return lower(type);
}

bool response_reader::reusable() const noexcept { return parsing_->reusable(); }
std::string_view response_reader::piece() const noexcept { return parsing_->piece(); }
const std::string& response_reader::error() const noexcept { return parsing_->error; }

}  // namespace andon::detail
