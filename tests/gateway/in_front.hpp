// andon in front of a server that misbehaves, and a host that calls it: over stdio, or over HTTP in either era.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/relay_hosts.hpp"
#include "own_folder.hpp"
#include "process/process_watch.hpp"

namespace andon {

enum class hosted : std::uint8_t { wrap, legacy_gateway, modern_gateway };

[[nodiscard]] std::string name_of(hosted how);
inline void PrintTo(hosted how, std::ostream* to) { *to << name_of(how); }
inline constexpr std::array all_hosts{hosted::wrap, hosted::legacy_gateway, hosted::modern_gateway};

/// What a test says of the server's configuration.
struct in_front_settings {
    std::vector<std::string> arguments{};  ///< of the server
    std::string keys{};                    ///< lines of [servers.s]
    std::string tables{};                  ///< and whatever stands below it
    std::string command{};                 ///< in place of the server
};

/// One andon, one host. A call is known by the host's id of it, in the bytes that go over the wire.
class in_front {
public:
    in_front(hosted how, const in_front_settings& what);

    /// The handshake, where there is one.
    void open() { with_.host->open(); }
    [[nodiscard]] hosted how() const noexcept { return how_; }
    [[nodiscard]] bool modern() const noexcept { return how_ == hosted::modern_gateway; }

    // The host.

    void call(std::string_view raw_id, std::string_view tool, std::string_view raw_arguments = "{}",
              std::string_view raw_meta = {}) {
        with_.host->call(raw_id, tool, raw_arguments, raw_meta);
    }
    /// Another request than of a tool.
    void request(std::string_view raw_id, std::string_view method, std::string_view raw_members) {
        with_.host->request(raw_id, method, raw_members);
    }
    /// In the way that the host's transport and era have for it.
    void cancel(std::string_view raw_id, std::string_view raw_reason = {}) { with_.host->cancel(raw_id, raw_reason); }
    /// Waits for it.
    [[nodiscard]] json::object answer(std::string_view raw_id);
    /// A call and its answer's text.
    [[nodiscard]] std::string asked(std::string_view tool, std::string_view raw_arguments = "{}");
    /// Nothing came for a call that was cancelled, but the end of its stream.
    void expect_silence(std::string_view raw_id);
    /// Connections, and standard input.
    void vanish() { with_.host->vanish(); }
    void drop_connection(std::string_view raw_id) { over_http().drop(raw_id); }
    [[nodiscard]] http_caller& caller() { return over_http().client(); }

    // What is seen from outside.

    /// Of andon: its standard error, which the server's is part of.
    [[nodiscard]] server_process& andon() noexcept { return *with_.andon; }
    struct beginning {
        pid_t pid;       ///< of the server's process
        std::string id;  ///< of andon's request to it
    };
    /// Waits until the tool works.
    [[nodiscard]] beginning began(std::string_view key);
    /// Those that the tool started.
    [[nodiscard]] std::vector<process_watch> children(std::string_view key);
    /// Waits for the log line of an event, of a call of that tool.
    [[nodiscard]] json::object event(std::string_view event, std::string_view tool);
    [[nodiscard]] int processes_started() { return with_.andon->times_logged("@started "); }
    /// Of the server, so far, in the order of their starts.
    [[nodiscard]] std::vector<pid_t> started();
    [[nodiscard]] std::string figures() const;
    /// `andon ps --json`: the calls.
    [[nodiscard]] json::array in_flight() const;
    /// Waits until `andon ps` shows that call of a tool in that state.
    [[nodiscard]] json::object shown(std::string_view tool, std::string_view state) const;
    [[nodiscard]] json::array servers() const;
    /// Of the journal, so far, of calls of that tool.
    [[nodiscard]] std::vector<json::object> entries(std::string_view tool) const;
    /// Waits for one of them that is as asked for.
    [[nodiscard]] json::object entry(std::string_view tool,
                                     const std::function<bool(const json::object&)>& is = {}) const;
    [[nodiscard]] const own_folder& folder() const noexcept { return folder_; }

private:
    [[nodiscard]] http_host& over_http() { return dynamic_cast<http_host&>(*with_.host); }

    own_folder folder_;
    hosted how_;
    relayed with_;
    int asked_ = 0;
};

/// For INSTANTIATE_TEST_SUITE_P over all_hosts.
struct hosted_name {
    std::string operator()(const testing::TestParamInfo<hosted>& each) const { return name_of(each.param); }
};

}  // namespace andon
