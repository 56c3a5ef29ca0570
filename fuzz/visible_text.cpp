// Any bytes as text from a stranger: what comes out is valid, visible, within the limit, and does not change again.
#include "andon/core/visible_text.hpp"

#include "andon/core/reason.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using andon::fuzz::require;
    if (size == 0) return 0;
    const std::size_t limit = data[0];
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto shown = andon::visible_text(text, limit);
    require(shown.size() <= limit, "within the limit");
    require(andon::visible_text(shown, shown.size()) == shown, "visible text is left alone");
    for (const char c : shown) {
        const auto byte = static_cast<unsigned char>(c);
        require(byte >= 0x20 && byte != 0x7F, "no control character");
    }
    require(andon::reason(text).text().size() <= andon::reason::longest, "a reason keeps to its cap");
    return 0;
}
