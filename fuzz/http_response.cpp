// Any bytes as a response, in any pieces: the same head, body and end, the same events in the body, and no more memory
// than the limits allow.
#include <algorithm>
#include <string>
#include <string_view>

#include "require.hpp"
#include "transport/http/event_cursor.hpp"
#include "transport/http/response_reader.hpp"

namespace {

using namespace andon::detail;
using andon::fuzz::require;
using step = response_reader::step;

constexpr std::size_t longest_head = 512;
constexpr std::size_t largest_event = 256;

struct reading {
    unsigned status = 0;
    std::string status_text;
    std::string type;
    std::string body;
    std::string events;
    std::string last_id;
    bool event_failed = false;
    step last = step::more;
    bool ended_well = false;
    bool failed = false;

    bool operator==(const reading&) const = default;
};

reading read(std::string_view bytes, std::size_t piece) {
    response_reader reader(longest_head);
    event_cursor cursor(largest_event);
    reading found;
    std::size_t given = 0;
    while (!bytes.empty() && found.last != step::end && found.last != step::failed) {
        reader.add(bytes.substr(0, piece));
        given += std::min(piece, bytes.size());
        bytes.remove_prefix(std::min(piece, bytes.size()));
        for (bool more = true; more;) {
            found.last = reader.next();
            switch (found.last) {
                case step::head:
                    require(found.status == 0, "there is one head");
                    found.status = reader.status();
                    require(found.status >= 200, "which is the last one");
                    found.status_text = reader.status_text();
                    found.type = reader.media_type();
                    break;
                case step::body: {
                    require(found.status != 0, "the head comes first");
                    std::string_view part = reader.piece();
                    require(!part.empty() && part.size() <= given, "a piece of what came");
                    found.body += part;
                    while (const auto data = cursor.next(part)) {
                        require(data->size() <= largest_event, "no event is larger than its limit");
                        found.events += '[' + *data + ']';
                    }
                    break;
                }
                case step::end:
                case step::failed: require(reader.next() == found.last, "over is over"); [[fallthrough]];
                case step::more: more = false;
            }
        }
        require(found.status != 0 || found.last == step::failed || given <= longest_head + piece, "a head has a limit");
    }
    found.last_id = cursor.last_id();
    found.event_failed = cursor.failed();
    if (found.last == step::more && reader.begun()) found.ended_well = reader.finish() == step::end;
    found.failed = !reader.error().empty();
    require(found.failed ==
                (found.last == step::failed || (found.last == step::more && !found.ended_well && reader.begun())),
            "what failed says why");
    return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size < 2) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    const reading whole = read(bytes, bytes.size());
    require(whole == read(bytes, 1), "byte by byte");
    require(whole == read(bytes, 1U + data[0]), "in pieces");
    return 0;
}
