// The table against the obvious: a std::map behind nothing at all. Any sequence of calls must give the same answers.
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <rapidcheck/gtest.h>
#include <rapidcheck/state.h>
#include <tuple>
#include <vector>

#include "andon/core/in_flight.hpp"
#include "core/test_time.hpp"

namespace andon {
namespace {

constexpr std::size_t max_per_session = 12;
constexpr int session_count = 3;

struct key {
    int session;
    direction way;
    request_id id;
    auto operator<=>(const key&) const = default;
};

std::ostream& operator<<(std::ostream& out, const key& k) {
    return out << "session " << k.session << ' ' << to_string(k.way) << ' ' << k.id;
}

struct entry {
    bool responding = false;
    std::optional<cancel_cause> cancelled;
    bool operator==(const entry&) const = default;
};

using reference = std::map<key, entry>;

std::size_t in_session(const reference& model, int session) {
    return static_cast<std::size_t>(
        std::count_if(model.begin(), model.end(), [&](const auto& item) { return item.first.session == session; }));
}

// The real thing, with the handles that a program would hold.
struct system {
    in_flight table{{.max_per_session = max_per_session, .longest_id = 40, .outcomes_kept = 4}};
    std::vector<session> sessions;
    std::map<key, active_request> handles;

    system() {
        for (int i = 0; i < session_count; ++i) sessions.push_back(table.open_session());
    }
    [[nodiscard]] session& of(const key& k) { return sessions[static_cast<std::size_t>(k.session)]; }
    [[nodiscard]] request_key real(const key& k) { return {of(k).id(), k.way, k.id}; }
};

key any_key() {
    const auto id = *rc::gen::oneOf(
        rc::gen::map(rc::gen::inRange<std::int64_t>(-3, 12), [](std::int64_t n) { return request_id(n); }),
        rc::gen::map(rc::gen::element<std::string>("", "0", "1", "a", std::string(40, 'x'), std::string(41, 'x')),
                     [](std::string text) { return request_id(std::move(text)); }));
    const auto way = *rc::gen::element(direction::incoming, direction::outgoing);
    return {*rc::gen::inRange(0, session_count), way, id};
}

using command = rc::state::Command<reference, system>;

struct on_key : command {
    key k = any_key();
    void show(std::ostream& out) const override { out << name() << ' ' << k; }
    [[nodiscard]] virtual const char* name() const = 0;
};

struct begin final : on_key {
    [[nodiscard]] const char* name() const override { return "begin"; }
    [[nodiscard]] begin_refusal expected(const reference& model) const {
        if (k.id.view().text().size() > 40) return begin_refusal::id_too_long;
        if (in_session(model, k.session) >= max_per_session) return begin_refusal::too_many;
        return model.contains(k) ? begin_refusal::duplicate_id : begin_refusal::none;
    }
    void apply(reference& model) const override {
        if (expected(model) == begin_refusal::none) model[k] = {};
    }
    void run(const reference& model, system& real) const override {
        auto result = real.table.begin(real.of(k), k.way, k.id, start);
        RC_ASSERT(result.refusal == expected(model));
        if (result) real.handles.emplace(k, std::move(result.request));
    }
};

struct finish final : on_key {
    [[nodiscard]] const char* name() const override { return "finish"; }
    void checkPreconditions(const reference& model) const override { RC_PRE(model.contains(k)); }
    void apply(reference& model) const override { model.erase(k); }
    void run(const reference&, system& real) const override { real.handles.erase(k); }
};

struct respond final : on_key {
    [[nodiscard]] const char* name() const override { return "respond"; }
    void checkPreconditions(const reference& model) const override { RC_PRE(model.contains(k)); }
    static bool allowed(const entry& e) { return !e.responding && !e.cancelled; }
    void apply(reference& model) const override { model[k].responding |= allowed(model[k]); }
    void run(const reference& model, system& real) const override {
        RC_ASSERT(real.handles.at(k).begin_response() == allowed(model.at(k)));
    }
};

struct cancel final : on_key {
    cancel_cause cause = *rc::gen::elementOf(all_causes);
    [[nodiscard]] const char* name() const override { return "cancel"; }
    void apply(reference& model) const override {
        const auto found = model.find(k);
        if (found != model.end() && respond::allowed(found->second)) found->second.cancelled = cause;
    }
    void run(const reference& model, system& real) const override {
        const auto result = real.table.cancel(real.real(k), cause, "why", start);
        const auto found = model.find(k);
        if (found == model.end()) {
            RC_ASSERT(result.what == cancel_result::verdict::unknown);
        } else if (found->second.cancelled) {
            RC_ASSERT(result.what == cancel_result::verdict::already_cancelled);
            RC_ASSERT(result.by == *found->second.cancelled);
        } else {
            RC_ASSERT(result.what ==
                      (found->second.responding ? cancel_result::verdict::too_late : cancel_result::verdict::accepted));
        }
    }
};

struct cancel_session final : on_key {
    [[nodiscard]] const char* name() const override { return "cancel_session"; }
    void apply(reference& model) const override {
        for (auto& [other, e] : model) {
            if (other.session == k.session && respond::allowed(e)) e.cancelled = cancel_cause::operator_;
        }
    }
    void run(const reference&, system& real) const override {
        RC_ASSERT(real.table.cancel_session(real.of(k).id(), cancel_cause::operator_, "all", start));
    }
};

struct ask final : on_key {
    [[nodiscard]] const char* name() const override { return "ask"; }
    void apply(reference&) const override {}
    void run(const reference& model, system& real) const override {
        const auto found = model.find(k);
        const bool cancelled = found != model.end() && found->second.cancelled.has_value();
        RC_ASSERT(real.table.is_cancelled(real.real(k)) == cancelled);
    }
};

struct list final : on_key {
    [[nodiscard]] const char* name() const override { return "list"; }
    void apply(reference&) const override {}
    void run(const reference& model, system& real) const override {
        reference listed;
        for (const auto& info : real.table.list()) {
            int session = 0;
            while (real.sessions[static_cast<std::size_t>(session)].id() != info.session) ++session;
            const bool cancelled = info.state == request_state::cancelled;
            listed[{session, info.way, info.id}] = {info.state == request_state::responding,
                                                    cancelled ? std::optional(info.cause) : std::nullopt};
        }
        RC_ASSERT(listed == model);
        RC_ASSERT(real.table.size() == model.size());
        RC_ASSERT(real.of(k).size() == in_session(model, k.session));
    }
};

RC_GTEST_PROP(in_flight, gives_the_answers_of_a_plain_map, ()) {
    system real;
    rc::state::check(
        reference(), real,
        rc::state::gen::execOneOfWithArgs<begin, begin, begin, finish, respond, cancel, cancel_session, ask, list>());
}

}  // namespace
}  // namespace andon
