// A peer taken through a script: what is done to it, and what it says to do next.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "andon/peer/peer.hpp"

namespace andon {

/// One line of a script. `does` is one of
///   hear LINE               it comes in as it stands (an array: as a batch, each message in turn)
///   request ID METHOD       a request in the revision of the script; ID is raw JSON
///   cancelled ID [REASON]   notifications/cancelled for it
///   result N, error N       an answer to a request of ours
///   progress N              about a request of ours
///   too long [LINE]         a line that the splitter dropped
///   open                    a client begins
///   pass MS                 time, and what it brings
///   start N METHOD          a request of ours; stop N [REASON]: its cancel; forget N
///   answer ID, end ID       the handler of a request in flight wants to answer it; ends without an answer
///   look ID                 how a request in flight stands
/// `then` is what comes of it, or its beginning where it ends in "...". Several steps are joined by " | ".
struct exchange {
    std::string does;
    std::string then;
};

class script_runner {
public:
    script_runner(peer_role role, revision speaks, peer_settings settings = {});

    /// Does it; says what came of it.
    std::string run(const std::string& does);
    /// Through the whole script, with an expectation on each line; at the end nothing may be left in flight that the
    /// script did not leave there.
    void play(const std::vector<exchange>& script);

    /// Until requests can go both ways, in the revision of the script.
    void establish();

    [[nodiscard]] const peer& subject() const { return *peer_; }
    [[nodiscard]] in_flight& table() { return table_; }
    [[nodiscard]] const session& where() const { return session_; }

private:
    std::string hear(const std::string& line);
    std::string too_long(const std::string& line);
    std::string describe(peer_step step);
    std::string in_flight_command(const std::string& verb, const std::string& raw_id);

    in_flight table_{{.max_per_session = 64}};
    session session_ = table_.open_session();
    revision speaks_;
    std::unique_ptr<peer> peer_;
    time_point now_;
    struct held {
        active_request request;
        std::shared_ptr<batch_answers> batch;
    };
    std::map<std::string, held> requests_;
    std::map<std::int64_t, std::int64_t> ours_;  // what the peer is given as context: the number itself
};

/// A script that goes the same way under several revisions.
struct script_case {
    const char* name;
    std::vector<revision> revisions;
    std::vector<exchange> script;
};

inline const std::vector<revision> legacy_ones{revision::v2024_11_05, revision::v2025_03_26, revision::v2025_06_18,
                                               revision::v2025_11_25};
inline const std::vector<revision> modern_ones{revision::v2026_07_28};
inline const std::vector<revision> every_one{all_revisions.begin(), all_revisions.end()};

/// Each revision in turn, from an established session on.
void play(const script_case& given, peer_role role);

}  // namespace andon
