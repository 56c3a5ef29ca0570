// Messages, commands of our own and time, in any order, for both sides: what must hold of a session holds after each.
#include "andon/peer/peer.hpp"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "input.hpp"
#include "padded.hpp"
#include "require.hpp"

namespace {

using namespace andon;
using fuzz::input;
using fuzz::require;

constexpr std::array ids{
    "1",      "2",   "16",          "17",  "18", R"("a")",           "0",   "-1",   R"("")",
    R"("1")", "1.0", R"("\u0061")", "1e0", "5",  "9007199254740993", "1.5", "null", R"("too long for the table")"};
constexpr std::array methods{"tools/call",
                             "ping",
                             "initialize",
                             "server/discover",
                             "notifications/cancelled",
                             "notifications/progress",
                             "notifications/initialized",
                             "notifications/message",
                             "sampling/createMessage"};
constexpr std::array versions{R"("2026-07-28")", R"("2025-03-26")", R"("2025-11-25")", R"("2099-01-01")", "5",
                              R"("2024-11-05")"};
constexpr std::array codes{"-32601", "-32022", "-32021", "7", "\"x\"", "-32602"};
constexpr std::array lists{R"(["2026-07-28"])", R"(["2025-03-26","2024-11-05"])", "[]", "{}",
                           R"(["2026-07-28","2025-11-25",5])"};

/// A message of a small grammar: mostly right, sometimes not quite.
std::string message(input& in) {
    const unsigned shape = in.next();
    std::string text = R"({"jsonrpc":"2.0")";
    if (shape % 8 < 6) text += std::string(R"(,"id":)") + in.pick(ids);
    if (shape % 4 == 3) {  // an answer
        const std::string list = in.pick(lists);
        if (shape & 64U) {
            return text + R"(,"error":{"code":)" + in.pick(codes) + R"(,"message":"m","data":{"supported":)" + list +
                   "}}}";
        }
        return text + R"(,"result":{"supportedVersions":)" + list + R"(,"protocolVersion":)" + in.pick(versions) + "}}";
    }
    text += std::string(R"(,"method":")") + in.pick(methods) + '"';
    if ((shape & 16U) == 0) {
        const unsigned what = in.next();
        text += R"(,"params":{"protocolVersion":)" + std::string(in.pick(versions));
        if (what & 1U) text += std::string(R"(,"requestId":)") + in.pick(ids);
        if (what & 2U) text += R"(,"reason":"no more")";
        if (what & 4U) text += std::string(R"(,"progressToken":)") + in.pick(ids);
        if (what & 8U) {
            text += std::string(R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":)") + in.pick(versions);
            if (what & 16U) text += R"(,"io.modelcontextprotocol/clientCapabilities":{})";
            text += '}';
        }
        text += '}';
    }
    if (shape & 128U) text += R"(,"result":1)";
    return text + '}';
}

json::object sent(const std::string& bytes) {
    require(bytes.find('\n') == std::string::npos, "what is sent is one line");
    boost::system::error_code failed;
    json::value value = json::parse(bytes, failed);
    require(!failed, "and JSON");
    require(value.is_object(), "and a message");
    require(value.get_object()["jsonrpc"] == "2.0", "of JSON-RPC");
    return std::move(value.get_object());
}

/// A batch and how many of its messages have said what their answer is.
struct counted_batch {
    std::shared_ptr<batch_answers> answers;
    std::size_t expected;
    std::size_t said = 0;

    explicit counted_batch(std::size_t size) : answers(std::make_shared<batch_answers>(size)), expected(size) {}
    void say(const std::string& answer) {
        require(++said <= expected, "each message of a batch speaks once");
        const std::string whole = answers->add(answer).value_or("");
        require(whole.empty() || said == expected, "a batch is sent with its last answer");
        if (whole.empty()) return;
        boost::system::error_code failed;
        require(json::parse(whole, failed).is_array() && !failed, "and is an array");
    }
};

class session_under_test {
public:
    session_under_test(in_flight& table, peer_settings settings)
        : table_(table), peer_(std::move(settings), table, session_) {}

    void hear(const std::string& text) {
        const fuzz::padded line(text);
        if (!envelope_reader::looks_like_batch(line.text())) {
            take(peer_.receive(line.text(), now_), heard(line.text()), nullptr);
            return;
        }
        peer_step refused;
        const auto messages = peer_.split(line.text(), refused);
        if (messages.empty()) return take(std::move(refused), std::nullopt, nullptr);
        const auto batch = std::make_shared<counted_batch>(messages.size());
        batches_.push_back(batch);
        for (const std::string_view one : messages) {
            peer_step step = peer_.receive_of_batch(one, batch->answers, {}, now_);
            const bool answers = step.what == next_step::send || step.what == next_step::handle_request;
            require(answers == (step.batch == batch->answers), "what is answered is answered in the batch");
            take(std::move(step), heard(one), batch);
            if (!answers) batch->say("");
        }
    }

    void too_long(const std::string& text) {
        line_skimmer skimmer;
        skimmer.follow(text);
        const fuzz::padded line(text);
        for (peer_step& step : peer_.line_too_long(skimmer.end())) {
            require(step.what == next_step::nothing || step.what == next_step::send, "nothing is done for it");
            require(!step.lost_answer || step.what == next_step::nothing || !is_client(), "nor is an answer answered");
            take(std::move(step), heard(line.text()), nullptr);
        }
    }
    void open() {
        if (is_client()) of_time(peer_.open(now_));
    }
    void pass(unsigned ms) {
        now_ += std::chrono::milliseconds(ms * 20);
        of_time(peer_.expire(now_));
    }

    void start(std::int64_t id) {
        if (!peer_.established() || ours_.contains(id)) return;
        ours_.insert(id);
        contexts_[id] = id;
        const json::object request =
            sent(peer_.start(id, {.method = "m", .progress = true, .context = &contexts_[id]}));
        require(request.at("id").as_int64() == id && request.contains("method"), "a request of ours");
    }
    void stop(std::int64_t id) {
        const std::string bytes = peer_.cancel(id, "why\n");
        require(bytes.empty() == (ours_.erase(id) == 0), "told exactly when it is waited for");
        if (bytes.empty()) return;
        const json::object notification = sent(bytes);
        require(notification.at("method") == "notifications/cancelled", "by the notification");
        require(notification.at("params").at("requestId") == json::value(id), "for that request");
    }
    void forget(std::int64_t id) {
        peer_.forget(id);
        ours_.erase(id);
    }

    void end(unsigned which, bool answer) {
        if (requests_.empty()) return;
        auto it = std::next(requests_.begin(), static_cast<std::ptrdiff_t>(which % requests_.size()));
        held& one = it->second;
        const bool answered = answer && one.request.begin_response();
        if (answer) require(answered == !one.cancelled, "answered exactly when it was not cancelled");
        if (one.batch) one.batch->say(answered ? result_message(one.raw_id, "{}") : "");
        requests_.erase(it);
    }

    void check() {
        require(table_.size() == requests_.size(), "a request is in flight exactly once until it ends");
        require(peer_.next_wake().has_value() <= !peer_.established(), "nothing to wait for when it is established");
        const auto& known = peer_.settings().revisions;
        if (peer_.established()) {
            require(std::find(known.begin(), known.end(), peer_.speaks()) != known.end(),
                    "in a revision that we speak");
        }
    }

    void finish() {
        while (!requests_.empty()) end(0, true);
        check();
        for (const auto& batch : batches_) require(batch->said == batch->expected, "every batch comes to its end");
    }

private:
    struct held {
        active_request request;
        std::string raw_id;
        std::shared_ptr<counted_batch> batch;
        bool cancelled = false;
    };
    /// What a message is by itself, asked of another reader.
    struct seen {
        message_kind kind;
        request_id id;
        std::string raw_id;
        std::string method;
        std::optional<request_id> cancels;
    };

    [[nodiscard]] bool is_client() const { return peer_.settings().role == peer_role::client; }

    std::optional<seen> heard(std::string_view line) {
        const envelope* const message = reader_.read(line);
        if (message == nullptr) return std::nullopt;
        seen found{message->kind, request_id(message->id), std::string(message->raw_id), std::string(message->method),
                   std::nullopt};
        std::string storage;
        if (const auto id = id_from_json(message->raw_request_id, storage)) found.cancels = request_id(*id);
        return found;
    }

    /// Nothing came in: there is nobody to answer.
    void of_time(peer_step step) {
        require(step.what == next_step::nothing || step.what == next_step::send || step.what == next_step::failed,
                "time asks or gives up");
        if (step.what == next_step::send) require(sent(step.bytes).contains("method"), "and answers nothing");
    }

    void take(peer_step step, const std::optional<seen>& line, const std::shared_ptr<counted_batch>& batch) {
        if (!step.bytes.empty()) {
            const json::object bytes = sent(step.bytes);
            const bool answers = !bytes.contains("method");
            if (answers && line) {
                require(line->kind == message_kind::request, "only requests are answered");
                require(!bytes.contains("result") || !requests_.contains(line->id), "none that is in flight");
                const auto named = R"(,"id":)" + line->raw_id + ",";
                require(step.bytes.find(named) != std::string::npos, "with the id in the bytes in which it came");
            }
            if (is_client() && answers) require(line.has_value(), "a client answers no fault");
            if (batch && step.what == next_step::send) batch->say(step.bytes);
        }
        switch (step.what) {
            case next_step::handle_request: {
                require(line && line->kind == message_kind::request, "a request is let in");
                const request_id id(step.request.id());
                require(!requests_.contains(id), "and not one that is in flight");
                requests_[id] = {std::move(step.request), line->raw_id, batch};
                break;
            }
            case next_step::settle:
                require(ours_.erase(*static_cast<std::int64_t*>(step.context)) == 1,
                        "only what is waited for is settled");
                require(step.message->id == request_id_view(*static_cast<std::int64_t*>(step.context)),
                        "by its own answer");
                break;
            case next_step::progress:
                require(ours_.contains(*static_cast<std::int64_t*>(step.context)), "progress of what is waited for");
                break;
            case next_step::handle_notification: require(line && line->raw_id.empty(), "a notification"); break;
            default: break;
        }
        const bool cancel =
            line && line->kind == message_kind::notification && line->method == "notifications/cancelled";
        if (cancel) require(step.what == next_step::nothing && step.bytes.empty(), "a cancel is never answered");
        for (auto& [id, one] : requests_) {
            if (one.cancelled == one.request.token().cancelled()) continue;
            require(cancel && line->cancels == id, "cancelled by the notification that names it, and by nothing else");
            one.cancelled = true;
        }
    }

    in_flight& table_;
    session session_ = table_.open_session();
    peer peer_;
    envelope_reader reader_;
    time_point now_ = time_point(std::chrono::hours(1));
    std::map<request_id, held> requests_;
    std::set<std::int64_t> ours_;
    std::map<std::int64_t, std::int64_t> contexts_;
    std::vector<std::shared_ptr<counted_batch>> batches_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    input in{data, data + size};
    peer_settings settings{.implementation = {{"name", "us"}}};
    const unsigned sort = in.next();
    settings.role = sort % 2 == 0 ? peer_role::server : peer_role::client;
    if (const unsigned some = sort / 2 % 32; some != 0) {
        settings.revisions.clear();
        for (std::size_t i = 0; i < all_revisions.size(); ++i) {
            if (some >> i & 1U) settings.revisions.push_back(all_revisions[i]);
        }
    }
    static in_flight table({.max_per_session = 8, .longest_id = 8});  // costs more to make than all the rest
    session_under_test subject(table, std::move(settings));
    bool opened = false;
    while (in.at != in.end) {
        const unsigned what = in.next();
        switch (what % 16) {
            case 0:
                if (!std::exchange(opened, true)) subject.open();
                break;
            case 1: subject.pass(in.next()); break;
            case 2: subject.start(16 + in.next() % 3); break;
            case 3: subject.stop(in.next() % 20); break;
            case 4: subject.forget(16 + in.next() % 3); break;
            case 5: subject.end(in.next(), true); break;
            case 6: subject.end(in.next(), false); break;
            case 7: subject.too_long(message(in)); break;
            case 8: subject.hear(in.bytes(64)); break;
            case 9: {
                std::string damaged = message(in);
                damaged[in.next() % damaged.size()] = static_cast<char>(in.next() | 0x10U);
                subject.hear(damaged);
                break;
            }
            case 10: {
                std::string all = "[";
                for (unsigned left = what / 16 % 4 + 1; left > 0; --left) all += message(in) + (left > 1 ? "," : "]");
                subject.hear(all);
                break;
            }
            default: subject.hear(message(in));
        }
        subject.check();
    }
    subject.finish();
    return 0;
}
