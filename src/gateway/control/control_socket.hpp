// Where a running andon can be asked what it is doing, and to stop it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "andon/transport/log.hpp"
#include "gateway/control/control_connection.hpp"
#include "gateway/control/control_desk.hpp"
#include "gateway/control/runtime_directory.hpp"
#include "transport/event_loop.hpp"

namespace andon::gateway {

struct control_request;

/// A Unix socket in the user's runtime directory, for that user and root. It shares the loop with the relaying, which
/// it must not disturb: what is read, kept and written for its clients is bounded, a client that is slow or does not
/// read is dropped, and requests are answered in at most a fifth of the loop's time.
///
/// On the loop's thread, or while it does not run.
class control_socket final : private control_connection::owner {
public:
    struct identity {
        std::string kind;  ///< "wrap" or "gateway"
        std::string name;  ///< for people: the server's, or the configuration's
    };

    /// Throws std::exception with what the user can do. The relaying works without it. `patience` is for clients
    /// that ask or read slowly.
    control_socket(detail::event_loop& loop, control_desk& desk, identity who, log_sink log,
                   duration patience = std::chrono::seconds(10));
    control_socket(const control_socket&) = delete;
    control_socket& operator=(const control_socket&) = delete;
    ~control_socket();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::size_t connections() const noexcept { return connections_.size(); }

private:
    using connection = std::shared_ptr<control_connection>;
    class stop_watch;

    void bind();
    void accept_later();
    void accept();
    void take(detail::descriptor socket);
    [[nodiscard]] bool may_ask(int socket);
    void make_room_for(const control_connection* newest);
    [[nodiscard]] std::size_t waiting() const;

    void asked(const connection& by, std::string_view line) override;
    [[nodiscard]] time_point next_turn() const override { return next_turn_; }
    void gone(const control_connection& which) override;

    void answer(const connection& to, std::string_view line);
    [[nodiscard]] std::string hello() const;
    void list(const connection& to) const;
    void stop(const connection& to, const control_request& request);

    detail::event_loop* loop_;
    control_desk* desk_;
    identity who_;
    log_sink log_;
    duration patience_;
    std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
    private_folder folder_;
    std::string name_;
    std::filesystem::path path_;
    std::uint64_t inode_ = 0;
    detail::descriptor socket_;
    std::unique_ptr<detail::event_loop::watch> watch_;
    detail::event_loop::timer again_;
    time_point next_turn_{};
    bool told_of_strangers_ = false;
    std::shared_ptr<std::size_t> watched_stops_ = std::make_shared<std::size_t>(0);
    std::vector<connection> connections_;  // in the order in which they came
};

}  // namespace andon::gateway
