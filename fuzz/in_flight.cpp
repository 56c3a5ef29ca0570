// Any sequence of calls to the table, against a plain map: the same answers, and nothing left at the end.
#include "andon/core/in_flight.hpp"

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "andon/core/cancel_callback.hpp"
#include "require.hpp"

namespace {

using namespace andon;
using fuzz::require;

struct bump {
    int* count;
    void operator()() const noexcept { ++*count; }
};

// A request as a program would hold it, and beside it what must be true of it.
struct held {
    active_request request;
    int called = 0;
    cancel_callback<bump> callback;
    bool responding = false;
    std::optional<cancel_cause> cancelled;

    explicit held(active_request r) : request(std::move(r)), callback(request.token(), bump{&called}) {}

    void check() const {
        require(request.token().cancelled() == cancelled.has_value(), "cancelled exactly when a cancel was accepted");
        require(called == (cancelled ? 1 : 0), "the callback ran exactly once, or not at all");
        if (cancelled) require(request.token().cause() == *cancelled, "the first cause stands");
        require(!(responding && cancelled), "never both");
    }
};

struct input {
    const unsigned char* at;
    const unsigned char* end;
    unsigned next() { return at == end ? 0U : *at++; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    input in{data, data + size};
    in_flight table({.max_per_session = 20, .longest_id = 8, .outcomes_kept = 2});
    std::vector<session> sessions;
    for (int i = 0; i < 2; ++i) sessions.push_back(table.open_session());
    std::map<std::pair<unsigned, request_id>, std::unique_ptr<held>> live;
    auto now = time_point(std::chrono::hours(1));

    while (in.at != in.end) {
        const unsigned what = in.next();
        const unsigned where = what >> 7U;
        const unsigned name = in.next();
        const request_id id = name % 2 == 0 ? request_id(std::int64_t{name})
                                            : request_id(std::string(name % 11, static_cast<char>('a' + name % 3)));
        const request_key key{sessions[where].id(), direction::incoming, id};
        const auto found = live.find({where, id});
        const bool known = found != live.end();
        switch (what % 8) {
            case 0:
            case 1: {
                const auto limit = std::chrono::milliseconds(in.next());
                auto result =
                    table.begin(sessions[where], direction::incoming, id, now,
                                {.limits = limit.count() % 2 == 0 ? time_limits{.idle = limit} : time_limits{}});
                if (known) require(!result, "an id in flight is refused");
                if (result) live[{where, id}] = std::make_unique<held>(std::move(result.request));
                break;
            }
            case 2: {
                const auto cause = all_causes[in.next() % all_causes.size()];
                const auto verdict = table.cancel(key, cause, "why", now).what;
                require(known == (verdict != cancel_result::verdict::unknown), "known to both or to none");
                if (verdict == cancel_result::verdict::accepted) {
                    require(!found->second->responding && !found->second->cancelled, "accepted only while running");
                    found->second->cancelled = cause;
                }
                break;
            }
            case 3:
                if (known && found->second->request.begin_response()) found->second->responding = true;
                break;
            case 4:
                if (known) live.erase(found);
                break;
            case 5: {
                now += std::chrono::milliseconds(in.next());
                table.expire(now);
                for (auto& [k, h] : live) {
                    const auto deadline = h->request.deadline();
                    if (h->cancelled || h->responding || !h->request.token().cancelled()) {
                        const bool open = !h->cancelled && !h->responding;
                        require(!(open && deadline && *deadline + std::chrono::milliseconds(1) <= now),
                                "what is overdue was stopped");
                        continue;
                    }
                    require(deadline && *deadline <= now, "nothing is stopped before its time");
                    h->cancelled = cancel_cause::timeout;
                }
                break;
            }
            case 6:
                table.cancel_session(sessions[where].id(), cancel_cause::operator_, "all", now);
                for (auto& [k, h] : live) {
                    if (k.first == where && !h->cancelled && !h->responding) h->cancelled = cancel_cause::operator_;
                }
                break;
            default:
                require(table.is_cancelled(key) == (known && found->second->cancelled.has_value()), "asked by key");
                require(table.list().size() == live.size(), "all are listed");
        }
        for (const auto& [k, h] : live) h->check();
    }
    live.clear();
    require(table.size() == 0, "nothing is left in flight");
    return 0;
}
