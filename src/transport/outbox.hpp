// What is to be written, in order, until the peer reads it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "andon/core/cancel_token.hpp"

namespace andon::detail {

struct outbox_limits {
    std::size_t soft = std::size_t{1} << 20U;    ///< above it what may be lost (progress, log messages) is
    std::size_t hard = std::size_t{64} << 20U;   ///< above it the peer is taken for gone
    std::size_t keep = std::size_t{256} << 10U;  ///< bytes of memory that are kept while nothing waits
};

/// Filled from any thread, emptied by the loop's. The promise of cancel() is kept here: a message that belongs to a
/// request (its progress, its log messages) is looked at again in the moment before its bytes are handed to the kernel,
/// and skipped if the request was cancelled since it was queued. A check when it is queued would not do: a peer that
/// reads slowly has thousands of them waiting in here when it presses Stop.
///
/// What was cancelled is not to count for a limit either, or one who presses Stop and does not read on would be held up
/// for bytes that are never written. So it is swept out before a limit takes effect. A sweep looks at every message
/// that has an owner, and so has to be earned: each message that is put pays for a few looks; and bytes are moved only
/// where at least a quarter of them go, which had to be put first. A cancel is final: what a sweep finds cancelled
/// would have been skipped, and what is cancelled behind its back is skipped later.
class outbox {
public:
    enum class queued : std::uint8_t {
        no,        ///< too much is waiting already, and it may be lost
        yes,       ///<
        wake,      ///< yes, and nobody was told yet: flush() must be called on the loop's thread
        overflow,  ///< the peer does not read
    };

    explicit outbox(const outbox_limits& limits = {}) : limits_(limits) {}

    /// Whether an owner's message is lost where there is no room for it.
    enum class loss : std::uint8_t { allowed, forbidden };

    /// `owner`: whose message it is; it is dropped with the owner's cancel. None: it is written for certain.
    queued put(std::string_view line, const cancel_token* owner = nullptr, std::string_view ending = "\n",
               loss may_be = loss::allowed);
    /// From any thread: what was cancelled is swept out, unless that was done only just now.
    void drop_cancelled();

    enum class flushed : std::uint8_t {
        all,      ///<
        blocked,  ///< call again when the descriptor is writable
        broken,   ///< nobody is there to read it
    };
    /// Always to the same.
    [[nodiscard]] flushed flush(int fd);
    /// With another way to write: how many of the bytes it took, or nothing and `blocked` or `broken`.
    template <class Write>
    [[nodiscard]] flushed flush_with(Write write) {
        const std::lock_guard lock(writing_mutex_);
        for (;;) {
            skip_cancelled();
            if (written_ == writing_.bytes.size()) {
                if (!take_more()) return flushed::all;
                continue;
            }
            flushed stopped = flushed::all;
            const std::size_t wrote =
                write(std::string_view(writing_.bytes).substr(written_, end_of_run() - written_), stopped);
            if (stopped != flushed::all) return stopped;
            written_ += wrote;
            waiting_.fetch_sub(wrote, std::memory_order_relaxed);
        }
    }

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

private:
    struct owned {
        std::size_t begin, end;
        cancel_token owner;
    };
    struct batch {
        std::string bytes;
        std::vector<owned> messages;  // those that have an owner, in order
    };

    [[nodiscard]] std::size_t end_of_run() const noexcept;
    void skip_cancelled() noexcept;
    bool take_more();
    void sweep();
    void sweep(batch& of, std::size_t first, std::size_t from);

    outbox_limits limits_;
    std::mutex mutex_;
    batch filling_;            // under the mutex
    bool told_ = false;        // under the mutex: flush() is on its way
    std::size_t largest_ = 0;  // under the mutex: line of those that came since nothing was waiting
    std::size_t earned_ = 0;   // under the mutex: looks, likewise
    /// Nobody waits for it but the loop, which takes the other one inside. Whoever has that only tries.
    std::mutex writing_mutex_;
    batch writing_;            // under this mutex, as the next two
    std::size_t written_ = 0;  // of writing_.bytes
    std::size_t next_owned_ = 0;
    bool is_socket_ = true;  // as long as nothing else is known
    std::atomic<std::size_t> waiting_ = 0;
    std::atomic<std::uint64_t> lost_ = 0;
};

}  // namespace andon::detail
