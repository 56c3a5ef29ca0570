// Any bytes as a stream of events: the same at any split, within the limit; and what is framed is read as it was
// written.
#include "transport/http/sse.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "require.hpp"

namespace {

using andon::detail::sse_event;
using andon::detail::sse_parser;
using andon::fuzz::require;

struct outcome {
    std::vector<sse_parser::event> events;
    bool failed = false;
};

/// Cut into chunks whose sizes go round in `sizes`.
outcome parsed(std::string_view bytes, std::size_t largest, std::string_view sizes) {
    sse_parser parser(largest);
    outcome all;
    for (std::size_t i = 0; !bytes.empty(); ++i) {
        const std::size_t wanted =
            sizes.empty() ? bytes.size() : 1U + static_cast<unsigned char>(sizes[i % sizes.size()]);
        const std::size_t size = std::min(wanted, bytes.size());
        std::string_view chunk = bytes.substr(0, size);
        while (auto event = parser.next(chunk)) all.events.push_back(std::move(*event));
        require(chunk.empty(), "all of it is taken");
        bytes.remove_prefix(size);
    }
    all.failed = parser.failed();
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size < 4) return 0;
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t largest = data[0];
    const std::string_view sizes = all.substr(1, 3);
    const std::string_view bytes = all.substr(4);

    const outcome whole = parsed(bytes, largest, {});
    const outcome cut = parsed(bytes, largest, sizes);
    require(whole.failed == cut.failed, "it fails at any split or at none");
    require(whole.events.size() == cut.events.size(), "as many events at any split");
    for (std::size_t i = 0; i < whole.events.size(); ++i) {
        const auto& one = whole.events[i];
        const auto& other = cut.events[i];
        require(one.id == other.id && one.retry == other.retry && one.type == other.type && one.data == other.data,
                "the same events at any split");
        require(one.data.size() <= largest + 1, "within the limit");
        require(!one.id || one.id->size() <= std::max<std::size_t>(largest, 1'024), "within its own limit");
        require(!one.retry || (one.retry->count() >= 0 && *one.retry <= sse_parser::longest_retry), "a sensible time");
        require(!one.type.empty(), "every event has a type");
    }

    const outcome again = parsed(sse_event(bytes, sizes), 3 * size + 100, sizes);
    require(again.events.size() == 1 && !again.failed, "one message is one event");
    require(!again.events[0].id || *again.events[0].id == sizes, "its id is its id");
    std::string expected(bytes);
    for (std::size_t at = 0; (at = expected.find('\r', at)) != std::string::npos; ++at) {
        expected.replace(at, expected.substr(at, 2) == "\r\n" ? 2 : 1, "\n");
    }
    require(again.events[0].data == expected, "its data is its data, with newlines for every end of a line");
    return 0;
}
