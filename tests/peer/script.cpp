#include "peer/script.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>
#include <sstream>

#include "core/test_time.hpp"
#include "wire/padded.hpp"

namespace andon {
namespace {

const std::string meta =
    R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string named(std::string_view method, const std::string& rest) {
    return R"({"jsonrpc":"2.0","method":")" + std::string(method) + '"' + rest + '}';
}

/// Every line that is sent must be one that a peer can read.
void expect_sendable(const std::string& bytes) {
    EXPECT_EQ(bytes.find('\n'), std::string::npos) << bytes;
    boost::system::error_code failed;
    static_cast<void>(json::parse(bytes, failed));
    EXPECT_FALSE(failed) << bytes;
}

}  // namespace

script_runner::script_runner(peer_role role, revision speaks, peer_settings settings) : speaks_(speaks), now_(start) {
    settings.role = role;
    if (settings.implementation.empty()) settings.implementation = {{"name", "us"}, {"version", "1"}};
    peer_ = std::make_unique<peer>(std::move(settings), table_, session_);
}

std::string script_runner::describe(peer_step step) {
    if (!step.bytes.empty()) expect_sendable(step.bytes);
    switch (step.what) {
        case next_step::nothing: return step.note.empty() ? "nothing" : "ignored: " + step.note;
        case next_step::send: {
            if (!step.batch) return "send " + step.bytes;
            const std::string whole = step.batch->add(step.bytes).value_or("");
            if (!whole.empty()) expect_sendable(whole);
            return whole.empty() ? "into the batch" : "send " + whole;
        }
        case next_step::handle_request: {
            const std::string id(step.message->raw_id);
            std::string text = "handle " + id + " " + std::string(step.message->method);
            EXPECT_FALSE(requests_.contains(id)) << "twice in flight: " << id;
            EXPECT_EQ(step.request.id(), step.message->id);
            requests_[id] = {std::move(step.request), std::move(step.batch)};
            return text;
        }
        case next_step::handle_notification: return "notification " + std::string(step.message->method);
        case next_step::settle: return "settle " + std::to_string(*static_cast<std::int64_t*>(step.context));
        case next_step::progress: return "progress of " + std::to_string(*static_cast<std::int64_t*>(step.context));
        case next_step::ended_by_peer: return "taken back " + std::to_string(*static_cast<std::int64_t*>(step.context));
        case next_step::established: return step.bytes.empty() ? "established" : "established, send " + step.bytes;
        case next_step::failed: return "failed: " + step.note;
    }
    return {};
}

std::string script_runner::hear(const std::string& line) {
    const padded bytes(line);
    if (!envelope_reader::looks_like_batch(bytes)) return describe(peer_->receive(bytes, now_));
    peer_step refused;
    const auto messages = peer_->split(bytes, refused);
    if (messages.empty()) return describe(std::move(refused));
    const auto batch = std::make_shared<batch_answers>(messages.size());
    std::string all;
    for (const std::string_view message : messages) {
        peer_step step = peer_->receive_of_batch(message, batch, {}, now_);
        const bool answered = step.what == next_step::send || step.what == next_step::handle_request;
        EXPECT_EQ(answered, step.batch != nullptr) << message;
        all += (all.empty() ? "" : " | ") + describe(std::move(step));
        const std::string whole = answered ? "" : batch->add({}).value_or("");
        if (!whole.empty()) all += " | send " + whole;
    }
    return all;
}

std::string script_runner::too_long(const std::string& line) {
    line_skimmer skimmer;
    skimmer.follow(line);
    skimmed_line seen = skimmer.end();
    seen.longest = 8;
    std::string all;
    for (peer_step& step : peer_->line_too_long(seen)) {
        const std::string whose = !step.lost_answer ? "" : step.answered ? std::to_string(*step.answered) : "somebody";
        all += (all.empty() ? "" : " | ") + describe(std::move(step)) + (whose.empty() ? "" : " to " + whose);
    }
    return all;
}

std::string script_runner::in_flight_command(const std::string& verb, const std::string& raw_id) {
    const auto found = requests_.find(raw_id);
    if (found == requests_.end()) return "not in flight";
    active_request& request = found->second.request;
    if (verb == "look") {
        const cancel_token token = request.token();
        if (!token.cancelled()) return "running";
        return "cancelled, " + std::string(to_string(token.cause())) + ": " + std::string(token.why().text());
    }
    const bool answers = verb == "answer" && request.begin_response();
    const std::string answer = answers ? result_message(raw_id, "{}") : "";
    const auto batch = found->second.batch;
    request.finish(now_);
    requests_.erase(found);
    const std::string bytes = batch ? batch->add(answer).value_or("") : answer;
    if (!bytes.empty()) return "send " + bytes;
    return answers ? "into the batch" : "silence";
}

std::string script_runner::run(const std::string& does) {
    std::istringstream words(does);
    std::string verb;
    std::string id;
    std::string rest;
    words >> verb;
    if (verb == "hear") return hear(does.substr(5));
    words >> id >> std::ws;
    std::getline(words, rest);
    if (verb == "request") {
        const bool modern = era_of(speaks_) == era::modern;
        return hear(named(rest, R"(,"id":)" + id + R"(,"params":)" + (modern ? R"({"_meta":)" + meta + "}" : "{}")));
    }
    if (verb == "cancelled") {
        const std::string reason = rest.empty() ? "" : R"(,"reason":)" + andon::json_quoted(rest);
        return hear(named("notifications/cancelled", R"(,"params":{"requestId":)" + id + reason + "}"));
    }
    if (verb == "progress") {
        return hear(named("notifications/progress", R"(,"params":{"progress":1,"progressToken":)" + id + "}"));
    }
    if (verb == "result") return hear(result_message(id, "{}"));
    if (verb == "error") return hear(error_message(id, -1, "no"));
    if (verb == "answer" || verb == "end" || verb == "look") return in_flight_command(verb, id);
    if (verb == "too") return too_long(rest);
    if (verb == "open") return describe(peer_->open(now_));
    if (verb == "pass") {
        now_ += std::chrono::milliseconds(std::stoll(id));
        return describe(peer_->expire(now_));
    }
    const std::int64_t number = std::stoll(id);
    if (verb == "start") {
        std::int64_t& context = ours_[number] = number;
        const std::string bytes = peer_->start(number, {.method = rest, .context = &context});
        expect_sendable(bytes);
        return "send " + bytes;
    }
    if (verb == "stop") {
        const std::string bytes = peer_->cancel(number, rest);
        if (!bytes.empty()) expect_sendable(bytes);
        return bytes.empty() ? "nothing" : "send " + bytes;
    }
    EXPECT_EQ(verb, "forget");
    peer_->forget(number);
    return "nothing";
}

void script_runner::play(const std::vector<exchange>& script) {
    for (const auto& [does, then] : script) {
        const std::string came = run(does);
        const bool open_end = then.ends_with("...");
        EXPECT_EQ(open_end ? came.substr(0, then.size() - 3) + "..." : came, then)
            << "of: " << does << "\ncame: " << came;
        EXPECT_EQ(table_.size(), requests_.size()) << "each request is in the table exactly once, after: " << does;
    }
    requests_.clear();
    EXPECT_EQ(table_.size(), 0U);
}

void script_runner::establish() {
    const bool modern = era_of(speaks_) == era::modern;
    const std::string version(to_string(speaks_));
    if (peer_->settings().role == peer_role::server) {
        if (modern) return;
        EXPECT_EQ(run(R"(hear {"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":")" +
                      version + R"(","capabilities":{},"clientInfo":{}}})")
                      .substr(0, 11),
                  "established");
    } else {
        run("open");
        const bool probed = peer_->next_wake() && modern;
        EXPECT_EQ(probed, modern);
        if (!modern) run("error 1");
        EXPECT_EQ(run(modern ? R"(hear {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":[")" + version + R"("]}})"
                             : R"(hear {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":")" + version + R"("}})")
                      .substr(0, 11),
                  "established");
    }
    EXPECT_TRUE(peer_->established());
    EXPECT_EQ(peer_->speaks(), speaks_);
}

void play(const script_case& given, peer_role role) {
    for (const revision which : given.revisions) {
        SCOPED_TRACE(to_string(which));
        script_runner runner(role, which);
        runner.establish();
        runner.play(given.script);
    }
}

}  // namespace andon
