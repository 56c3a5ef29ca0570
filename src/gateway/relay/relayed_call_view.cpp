#include "gateway/relay/relayed_call_view.hpp"

namespace andon::gateway {

std::string_view to_string(call_stage stage) noexcept {
    switch (stage) {
        case call_stage::running: return "running";
        case call_stage::asked_to_stop: return "asked to stop";
        case call_stage::ignoring: return "ignoring";
        case call_stage::stopped: return "stopped";
        case call_stage::over: break;
    }
    return "over";
}

std::string_view to_string(call_end end) noexcept {
    switch (end) {
        case call_end::completed: return "completed";
        case call_end::failed: return "failed";
        case call_end::cancelled: return "cancelled";
        case call_end::timed_out: return "timed out";
        case call_end::stopped: return "stopped by operator";
        case call_end::disconnected: return "disconnected";
        case call_end::crashed: return "crashed";
        case call_end::refused: break;
    }
    return "refused";
}

std::string_view to_string(stop_evidence evidence) noexcept {
    switch (evidence) {
        case stop_evidence::none: return "";
        case stop_evidence::quiet: return "quiet";
        case stop_evidence::answered_late: return "answered late";
        case stop_evidence::killed: return "killed";
        case stop_evidence::exited: return "exited";
        case stop_evidence::unseen: break;
    }
    return "unseen";
}

}  // namespace andon::gateway
