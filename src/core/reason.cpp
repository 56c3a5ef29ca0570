#include "andon/core/reason.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "andon/core/visible_text.hpp"

namespace andon {

struct reason::shared_text {
    std::atomic<std::uint32_t> references{1};
    std::uint32_t size = 0;

    char* characters() noexcept { return reinterpret_cast<char*>(this + 1); }
};

reason::reason(std::string_view text) noexcept {
    if (text.empty()) return;
    try {
        const std::string shown = visible_text(text, longest);
        shared_ = new (::operator new(sizeof(shared_text) + shown.size())) shared_text;
        shared_->size = static_cast<std::uint32_t>(shown.size());
        std::memcpy(shared_->characters(), shown.data(), shown.size());
    } catch (const std::bad_alloc&) {
        shared_ = nullptr;
    }
}

reason::reason(const reason& other) noexcept : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->references.fetch_add(1, std::memory_order_relaxed);
}

reason::~reason() {
    if (shared_ != nullptr && shared_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        shared_->~shared_text();
        ::operator delete(shared_);
    }
}

std::string_view reason::text() const noexcept {
    if (shared_ == nullptr) return {};
    return {shared_->characters(), shared_->size};
}

}  // namespace andon
