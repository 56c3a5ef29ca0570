#include "check/run.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "andon/core/visible_text.hpp"
#include "check/probe_steps.hpp"

namespace andon::check {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::size_t longest_evidence = 400;

finding outcome_of(const probe& each, const trial& t) {
    try {
        return each.run(t);
    } catch (const unobservable& nothing) {
        return not_observable(nothing.what());
    } catch (const server_gone& gone) {
        return fail(gone.what());
    } catch (const server_hangs& hangs) {
        return fail(std::string("hangs: ") + hangs.what());
    } catch (const not_spoken& lost) {
        return fail(std::string("no handshake any more: ") + lost.what());
    } catch (const std::exception& error) {
        return not_observable(std::string("the probe could not be made: ") + error.what());
    }
}

class probing {
public:
    probing(const target& server, const run_options& how, checked_server& into)
        : server_(server), how_(how), into_(into) {
        for (const known_server& known : into.known) {
            const era which = era_of(known.speaks);
            for (const probe& each : all_probes()) {
                if (each.level(which).empty() || !each.goes_over(server.over_http())) continue;
                if (!how.rules.empty() && !how.rules.contains(std::string(each.id))) continue;
                jobs_.push_back({&each, &known});
                into.rules.push_back(
                    {std::string(each.id), std::string(each.level(which)), which, std::string(each.rule), {}, {}});
            }
        }
    }

    void run() {
        std::vector<std::jthread> threads;
        // Sessions with one server at a URL would be seen in each other's processes.
        for (int i = 1; i < (server_.starts() ? how_.search.jobs : 1); ++i) threads.emplace_back([this] { work(); });
        work();
    }

private:
    struct job {
        const probe* what;
        const known_server* with;
    };

    void work() {
        for (std::size_t i = next_++; i < jobs_.size(); i = next_++) {
            checked_rule& rule = into_.rules[i];
            {
                const std::lock_guard lock(talking_);
                how_.progress(std::to_string(i + 1) + '/' + std::to_string(jobs_.size()) + ' ' + rule.id + ' ' +
                              std::string(to_string(rule.which)) + ": " + rule.rule);
            }
            const auto began = clock::now();
            const trial t{.server = server_,
                          .known = *jobs_[i].with,
                          .patience = how_.search.patience,
                          .quiet = how_.quiet,
                          .until = began + how_.limit};
            rule.found = outcome_of(*jobs_[i].what, t);
            if (rule.found.what == result::fail && !binding(rule.level)) rule.found.what = result::differs;
            rule.found.evidence = visible_text(rule.found.evidence, longest_evidence);
            rule.took = std::chrono::duration_cast<milliseconds>(clock::now() - began);
        }
    }

    const target& server_;
    const run_options& how_;
    checked_server& into_;
    std::vector<job> jobs_;
    std::atomic<std::size_t> next_{0};
    std::mutex talking_;
};

}  // namespace

std::string_view to_string(era which) noexcept { return which == era::legacy ? "legacy" : "modern"; }

int checked_server::count(result what) const {
    return static_cast<int>(
        std::count_if(rules.begin(), rules.end(), [&](const checked_rule& r) { return r.found.what == what; }));
}

int checked_server::broken() const { return count(result::fail); }

check_verdict checked_server::verdict() const {
    if (broken() > 0) return check_verdict::fail;
    return count(result::pass) == 0 ? check_verdict::nothing_seen : check_verdict::pass;
}

std::string_view to_string(check_verdict what) noexcept {
    switch (what) {
        case check_verdict::pass: return "pass";
        case check_verdict::fail: return "fail";
        case check_verdict::nothing_seen: break;
    }
    return "nothing seen";
}

checked_server check_server(const target& server, const run_options& how) {
    // A server that dies while it is written to is a finding, and not the end of this program.
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c)
    checked_server made;
    for (const era which : {era::legacy, era::modern}) {
        if (!(which == era::legacy ? how.legacy : how.modern)) continue;
        how.progress("getting to know the server, " + std::string(to_string(which)) + " era");
        try {
            made.known.push_back(get_to_know(server, which, how.search));
        } catch (const not_spoken& why) {
            made.not_spoken.emplace_back(which, visible_text(why.what(), longest_evidence));
        } catch (const server_gone& gone) {
            // A server that leaves at the sight of the other era's first message speaks one era all the same.
            if (how.era_forced || (which == era::modern && made.known.empty())) throw;
            made.not_spoken.emplace_back(which, visible_text(gone.what(), longest_evidence));
        }
    }
    if (made.known.empty()) {
        std::string words = "the server speaks no era that was asked for";
        for (const auto& [which, why] : made.not_spoken) words += "; " + std::string(to_string(which)) + ": " + why;
        throw not_spoken(words);
    }
    probing(server, how, made).run();
    return made;
}

}  // namespace andon::check
