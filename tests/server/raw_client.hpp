// A client that is nothing but lines: what goes in is written by hand, what comes out is looked at as it is.
#pragma once

#include <array>
#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "andon/process/process_tree.hpp"
#include "andon/server/server.hpp"
#include "server/server_process.hpp"

namespace andon {

class raw_client {
public:
    /// Reads from `in` and writes to `out`, which stay the caller's.
    raw_client(int in, int out, revision speaks, json::object capabilities);

    /// Legacy revisions: shakes hands.
    json::object open();

    void write_line(std::string line);
    /// Sends a request, and gives its id. `meta` goes into `_meta`, beside what the revision wants there.
    int send(std::string_view method, json::object params = {}, json::object meta = {});
    /// Waits for that answer. What comes before it is kept, and the server's requests are answered from `replies`.
    json::object answer(int id);
    json::object ask(std::string_view method, json::object params = {}, json::object meta = {}) {
        return answer(send(method, std::move(params), std::move(meta)));
    }
    /// The same to the end: what an input_required result asks for is answered from `replies`, and asked again.
    json::object finish(std::string_view method, json::object params = {}, const json::object& meta = {});
    json::object call(std::string_view tool, json::object arguments = {}, json::object meta = {}) {
        return ask("tools/call", tool_params(tool, std::move(arguments)), std::move(meta));
    }
    [[nodiscard]] static json::object tool_params(std::string_view tool, json::object arguments = {});
    /// Waits for a notification of that method that was not taken yet, and gives its params.
    json::object notification(std::string_view method);
    /// The params of all that came so far, and were not taken.
    [[nodiscard]] std::vector<json::object> notifications(std::string_view method) const;

    std::map<std::string, json::object> replies;  ///< by method
    std::vector<json::object> questions;          ///< `method` and `params` of what the server wanted to know

private:
    void write(const json::object& message);
    json::object read();
    void take(json::object message);
    json::object reply_to(const json::object& question);

    int in_;
    int out_;
    revision speaks_;
    json::object capabilities_;
    int last_id_ = 0;
    std::string unread_;
    std::map<int, json::object> answers_;
    std::vector<json::object> notifications_;
};

/// A client that can do everything there is to ask, with an answer to each.
[[nodiscard]] json::object all_capabilities();
[[nodiscard]] std::map<std::string, json::object> usual_replies();

/// everything_server as a process of its own, and its client.
class served_process {
public:
    explicit served_process(revision speaks, json::object capabilities = all_capabilities());

private:
    process_tree process_;

public:
    raw_client client;
};

/// A server inside this process, and its client.
class served_here {
public:
    served_here(server& what, revision speaks, json::object capabilities = all_capabilities());
    served_here(const served_here&) = delete;
    served_here& operator=(const served_here&) = delete;
    ~served_here();

private:
    std::array<int, 2> ends_{-1, -1};

public:
    raw_client client;
};

}  // namespace andon
