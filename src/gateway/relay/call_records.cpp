#include "gateway/relay/call_records.hpp"

#include "gateway/config/config.hpp"

namespace andon::gateway {

call_records::call_records(const configuration& config) : log_(config.log), every_call_(config.journal.every_call) {
    if (!config.journal.enabled) return;
    try {
        journal_ = std::make_unique<journal>(journal_options_of(config.journal), log_.sink());
    } catch (const std::exception& error) {  // there is no place for it
        log_.line(log_level::warning, std::string("there is no journal: ") + error.what());
    }
}

server_metrics& call_records::of(const std::string& server) {
    const auto [found, fresh] = known_.try_emplace(server, nullptr);
    if (fresh) found->second = &figures_.of(server);
    return *found->second;
}

std::string call_records::figures_text() {
    if (journal_) figures_.journal_lost(journal_->counts().lost);
    return figures_.text();
}

void call_records::on_session(const std::string& server, bool begins) {
    if (begins) {
        of(server).session_began();
    } else {
        of(server).session_ended();
    }
}

void call_records::on_begun(const relayed_call& call) { of(call.server()).request_began(); }

void call_records::on_asked_to_stop(const relayed_call& call) {
    of(call.server()).cancelled(call.cause());
    log_.cancel_asked(call.view());
}

void call_records::on_ignored(const relayed_call& call) {
    of(call.server()).ignored();
    log_.cancel_ignored(call.view(), call.stage() != call_stage::ignoring ? "its answer, which came late, is dropped"
                                     : call.policy().on_ignored == ignored_policy::drop ? "its answer will be dropped"
                                                                                        : "its process is killed");
}

void call_records::on_over(const relayed_call& call) {
    server_metrics& figures = of(call.server());
    if (call.asked_to_stop()) {
        figures.cancelled_ended(call.end());
    } else {
        figures.request_ended(call.end());
    }
    const bool plain = !call.asked_to_stop() && (call.end() == call_end::completed || call.end() == call_end::failed);
    if (plain && !every_call_) return;
    const journal_entry entry = call.entry();
    if (entry.time_to_stop) {
        figures.stopped(*entry.time_to_stop);
        if (!entry.ignored) figures.noticed(*entry.time_to_stop);
    }
    if (call.asked_to_stop()) log_.cancel_over(entry);
    if (journal_) journal_->write(entry);
}

void call_records::on_over_again(const relayed_call& call) {
    of(call.server()).cancelled_ended_again();
    on_amended(call);
}

void call_records::on_amended(const relayed_call& call) {
    journal_entry entry = call.entry();
    entry.corrects = true;
    log_.cancel_over(entry);
    if (journal_) journal_->write(entry);
}

}  // namespace andon::gateway
