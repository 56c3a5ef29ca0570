// The client's end of a control socket.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "andon/wire/line_splitter.hpp"
#include "gateway/control/control_protocol.hpp"
#include "gateway/control/runtime_directory.hpp"

namespace andon::gateway {

/// A running andon, or one that ran.
struct andon_address {
    std::shared_ptr<const private_folder> folder;
    pid_t pid = 0;
};

/// Those of this user. What is wrong with a folder is put into `problems`.
[[nodiscard]] std::vector<andon_address> find_andons(std::vector<std::string>& problems);

/// The words are for people.
struct andon_unreachable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Blocks, up to a moment.
class control_conversation {
public:
    /// Nothing: the process is dead. Throws andon_unreachable.
    [[nodiscard]] static std::optional<control_conversation> begin(const andon_address& with, time_point until);

    void ask(const control_request& request, time_point until);
    /// The next line of the answer; nothing: it did not come in time. Throws andon_unreachable.
    [[nodiscard]] std::optional<json::object> next(std::optional<time_point> until);
    /// As next(), and throws too where nothing came in time.
    [[nodiscard]] json::object next_promptly(time_point until);

private:
    control_conversation(pid_t pid, detail::descriptor socket);
    [[noreturn]] void give_up(const std::string& why) const;
    [[nodiscard]] bool ready(short what, std::optional<time_point> until) const;

    pid_t pid_;
    detail::descriptor socket_;
    line_splitter lines_;
};

}  // namespace andon::gateway
