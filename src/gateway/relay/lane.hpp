// The way from hosts to a server: which of its processes takes a call, and what is done when one dies.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gateway/config/config.hpp"
#include "gateway/control/control_desk.hpp"
#include "gateway/relay/upstream.hpp"
#include "gateway/relay/waiting_calls.hpp"

namespace andon::gateway {

/// Two kinds. A session's lane has one process (or session behind a URL) to itself, whose handshake is the host's. A
/// shared lane takes the requests of modern clients, which each speak for themselves: any of its processes will do.
///
/// A process that dies is started again, with growing pauses, and told what the last one was told; calls wait
/// meanwhile, and can be cancelled where they wait. A call whose policy is `isolate` has a process of its own, from a
/// few that are kept warm.
///
/// On the loop's thread.
class lane final : private upstream::events {
public:
    /// Who hears what a server says without being asked.
    class host {
    public:
        host() = default;
        host(const host&) = delete;
        host& operator=(const host&) = delete;
        virtual void on_server_request(upstream& from, detail::incoming_request request, const envelope& message) = 0;
        virtual void on_server_notification(upstream& from, const envelope& message) = 0;
        /// Before any call is sent there. `shared`: it is no process of one call.
        virtual void on_server_ready(upstream& which, bool shared) = 0;
        /// It does not read what it is sent as quickly as that comes, or does again.
        virtual void on_server_crowded(bool crowded) = 0;

    protected:
        ~host() = default;
    };

    struct settings {
        std::size_t processes = 1;           ///< at most, apart from the isolated ones
        std::optional<peer_settings> own{};  ///< we shake hands ourselves
        upstream::connector instead{};       ///< in place of the configuration's command or URL
        /// For itself, the server, as it is known from elsewhere.
        std::shared_ptr<own_rates> computes = std::make_shared<own_rates>();
    };

    lane(std::shared_ptr<detail::conversation::surroundings> around, call_desk& desk, const server_config& server,
         settings how, host& told);
    ~lane();

    /// Starts a process now, and not with the first call. Throws where that cannot be done.
    void start();
    void send(const std::shared_ptr<relayed_call>& call);
    /// From now on no more than one process has them, apart from those that are isolated.
    void use_one_process() noexcept { how_.processes = 1; }
    /// To every process; lost where there is none.
    void notify(std::string_view line);
    /// The host reads more slowly than they write, or does not any more: see upstream::hold().
    void hold(bool wanted);
    /// What is being started does not come to it.
    void give_up_start(const std::string& why);
    /// Nobody needs it any more.
    void close();

    // What a process that is started later has to be told.

    void remember_initialize(std::string_view raw_params) { memory_.raw_initialize = raw_params; }
    void forget_initialize() { memory_.raw_initialize.clear(); }
    void remember_initialized() { memory_.initialized = true; }
    void remember_log_level(std::string_view raw_params);
    void remember_subscription(std::string_view raw_params, bool wanted);
    /// The revision that host and server agreed on.
    void agreed(revision which);
    /// What is known of the server once one of its processes is ready; null before.
    [[nodiscard]] const peer* known() const noexcept;

    [[nodiscard]] const server_config& server() const noexcept { return *server_; }
    void list(std::vector<upstream_view>& views) const;
    /// Calls in flight that have reached a process, over all of them.
    [[nodiscard]] std::size_t running() const noexcept;

private:
    void on_ready(upstream& which) override;
    void on_server_request(upstream& which, detail::incoming_request request, const envelope& message) override;
    void on_server_notification(upstream& which, const envelope& message) override;
    void on_crowded(upstream& which) override;
    void on_ignored(upstream& which, relayed_call& call) override;
    void on_gone(upstream& which, const std::string& why) override;

    [[nodiscard]] bool isolated(const relayed_call& call) const;
    [[nodiscard]] std::shared_ptr<upstream> make();
    /// Null: it failed, and is tried again later.
    std::shared_ptr<upstream> start_one(std::vector<std::shared_ptr<upstream>>& among);
    [[nodiscard]] std::shared_ptr<upstream> best() const;
    /// What all others are told as well; the shared ones were told by the host itself.
    void tell_isolated(std::string_view method, std::string_view raw_params);
    template <class Do>
    void each_isolated_ready(Do what) const;
    void wait_in(waiting_calls& queue, const std::shared_ptr<relayed_call>& call, std::string_view for_what);
    void be_patient();
    void send_waiting();
    void send_isolated(const std::shared_ptr<relayed_call>& call);
    void serve_isolated();
    void isolated_over(const std::shared_ptr<upstream>& its, const relayed_call& call);
    void keep_warm();
    void warm_some();
    void retry_later();
    void replace_lost();
    void start_failed();
    void give_up(waiting_calls& queue, const std::string& why);
    void lose_patience();

    static constexpr std::size_t most_isolated = 256;
    static constexpr std::size_t most_subscriptions = 4'096;
    static constexpr std::size_t longest_uri = 8'192;

    std::shared_ptr<detail::conversation::surroundings> around_;
    call_desk* desk_;
    const server_config* server_;
    settings how_;
    host* told_;
    handshake_memory memory_;
    std::vector<std::shared_ptr<upstream>> shared_;
    std::vector<std::shared_ptr<upstream>> warm_;                          // started, and without a call
    std::unordered_map<const upstream*, std::shared_ptr<upstream>> busy_;  // each with one call
    waiting_calls waiting_;
    waiting_calls waiting_isolated_;
    detail::event_loop::timer retry_;
    detail::event_loop::timer impatience_;
    duration pause_{};
    bool shares_ = false;  // a shared process is wanted, whether or not there is one
    std::uint32_t restarts_ = 0;
    std::string last_failure_;
    bool retrying_ = false;
    bool warming_ = false;  // in the next turn
    bool patient_ = false;  // somebody waits, and its time is on the clock
    bool closed_ = false;
    bool held_ = false;
    bool crowded_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for work that is posted
};

}  // namespace andon::gateway
