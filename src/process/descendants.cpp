// How the tree is found: from the top down, by the lists of children that the kernel keeps for each thread in
// /proc/<pid>/task/<tid>/children. That costs what the tree costs, not what the machine runs. A kernel built without
// these lists is asked the other way round, each process in /proc for its parent.
//
// No such walk is a snapshot. A process may fork behind our back, and when one dies its children move up to us after we
// had looked at ours. So a walk is never the proof that nothing is left (that is wait(), which knows), only a step
// towards it, and it is repeated.
//
// Pids are used again. Between finding a pid and signalling it, the process could end, be reaped by its parent, and a
// stranger get the number. So the signal goes through a pidfd, and only after a look, with the pidfd in hand, whether
// whatever has the number now is still the child of the one below which it was found, or of ourselves.
//
// The arrays are plain ones, and all functions are these files' own: an inline function of the standard library may
// be merged with a copy from a file that was compiled with sanitizers, and those must not be called after the fork.
#include "process/descendants.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/own_memory.hpp"
#include "process/proc_directory.hpp"

namespace andon::detail {
namespace {

struct found {
    pid_t pid;
    pid_t parent;
};
constexpr std::size_t most_found = 4096;  // what goes beyond is found by a later walk, when these are gone
constexpr std::size_t most_pids = std::size_t{1} << 22;  // the kernel's own limit

// Static memory that only a guardian ever touches; in the program itself these are pages that do not exist.
struct {
    found tree[most_found];
    std::size_t tree_size;
    std::uint64_t signalled[most_pids / 64];
    std::uint64_t in_tree[most_pids / 64];
} memory;
auto& tree = memory.tree;
auto& tree_size = memory.tree_size;

// A bit for each pid.
class pid_set {
public:
    explicit constexpr pid_set(std::uint64_t* words) noexcept : words_(words) {}
    [[nodiscard]] bool has(pid_t pid) const noexcept { return (word(pid) & bit(pid)) != 0; }
    void add(pid_t pid) const noexcept { word(pid) |= bit(pid); }
    void remove(pid_t pid) const noexcept { word(pid) &= ~bit(pid); }

private:
    static std::uint64_t bit(pid_t pid) noexcept { return std::uint64_t{1} << (static_cast<std::size_t>(pid) % 64); }
    [[nodiscard]] std::uint64_t& word(pid_t pid) const noexcept {
        return words_[static_cast<std::size_t>(pid) % most_pids / 64];
    }
    std::uint64_t* words_;
};
constexpr pid_set signalled(memory.signalled);
constexpr pid_set in_tree(memory.in_tree);

void close_fd(int fd) noexcept { ::syscall(SYS_close, fd); }

void remember(pid_t pid, pid_t parent) noexcept {
    if (tree_size < most_found) tree[tree_size++] = {pid, parent};
}

// Zero if there is no such process.
pid_t parent_of(pid_t pid) noexcept {
    const int fd = proc_path().add("/proc/").add(pid).add("/stat").open(0);
    if (fd < 0) return 0;
    char text[512];
    const auto size = ::syscall(SYS_read, fd, text, sizeof text);
    close_fd(fd);
    // pid (name) state parent ...: the name may hold anything, also parentheses.
    long at = size - 1;
    while (at >= 0 && text[at] != ')') --at;
    pid_t parent = 0;
    if (at < 0) return parent;
    for (at += 4; at < size && text[at] >= '0' && text[at] <= '9'; ++at) parent = parent * 10 + (text[at] - '0');
    return parent;
}

// False if the kernel keeps no lists of children, or the thread is gone.
bool add_children_of_thread(pid_t pid, pid_t thread) noexcept {
    const int fd = proc_path().add("/proc/").add(pid).add("/task/").add(thread).add("/children").open(0);
    if (fd < 0) return false;
    char text[4096];
    pid_t child = 0;
    for (;;) {
        const auto size = ::syscall(SYS_read, fd, text, sizeof text);
        if (size <= 0) break;
        for (long at = 0; at < size; ++at) {
            if (text[at] >= '0' && text[at] <= '9') {
                child = child * 10 + (text[at] - '0');
            } else {
                if (child > 0) remember(child, pid);
                child = 0;
            }
        }
    }
    close_fd(fd);
    return true;
}

void add_children(pid_t pid) noexcept {
    each_number_in(proc_path().add("/proc/").add(pid).add("/task"),
                   [pid](pid_t thread, int) noexcept { add_children_of_thread(pid, thread); });
}

enum class depth { children, all };

// Without the lists. Pids come in ascending order, and mostly a child's is above its parent's: one pass as a rule finds
// everything, and another that there is nothing more.
void add_by_parents(pid_t self, depth how_deep) noexcept {
    std::size_t before = 0;
    do {
        before = tree_size;
        each_number_in(proc_path().add("/proc"), [self, how_deep](pid_t pid, int) noexcept {
            if (in_tree.has(pid) || tree_size == most_found) return;
            const auto parent = parent_of(pid);
            if (parent != self && (how_deep == depth::children || !in_tree.has(parent))) return;
            remember(pid, parent);
            in_tree.add(pid);
        });
    } while (tree_size > before);
    for (std::size_t i = 0; i < tree_size; ++i) in_tree.remove(tree[i].pid);
}

bool still_there(const found& process, pid_t self) noexcept {
    const auto parent = parent_of(process.pid);
    return parent != 0 && (parent == process.parent || parent == self);
}

// A pidfd is readable once all threads have ended. The state in /proc would not tell: it is a zombie's also where only
// the main thread has ended.
bool over(int pidfd) noexcept {
    pollfd ready{pidfd, POLLIN, 0};
    const timespec at_once{};
    return ::syscall(SYS_ppoll, &ready, 1, &at_once, nullptr, 0) > 0;
}

void send(int signal, const found& process, pid_t self, sweep_result& result) noexcept {
    const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
    if (pidfd < 0) return;
    if (!over(pidfd) && still_there(process, self)) {
        ++result.living;
        const bool fresh = !signalled.has(process.pid);
        if (fresh || signal == SIGKILL) {
            if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0) {
                if (fresh) ++result.fresh;
                signalled.add(process.pid);
                if (signal != SIGKILL) ::syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0);
            } else if (errno == EPERM) {
                ++result.refused;
            }
        }
    }
    close_fd(pidfd);
}

sweep_result sweep(int signal, depth how_deep) noexcept {
    sweep_result result{};
    const auto self = static_cast<pid_t>(::syscall(SYS_getpid));
    tree_size = 0;
    const bool lists = add_children_of_thread(self, self);
    if (!lists) add_by_parents(self, how_deep);
    // To kill, at once: who has SIGKILL coming cannot fork, and a tree that grows while we walk it ends here. To ask,
    // only when all are known: whoever dies takes the way to its children with it.
    for (std::size_t next = 0; next < tree_size; ++next) {
        if (signal == SIGKILL) send(signal, tree[next], self, result);
        if (lists && how_deep == depth::all) add_children(tree[next].pid);
    }
    for (std::size_t next = 0; next < tree_size && signal != SIGKILL; ++next) send(signal, tree[next], self, result);
    return result;
}

}  // namespace

sweep_result terminate_descendants() noexcept { return sweep(SIGTERM, depth::all); }
sweep_result terminate_orphans() noexcept { return sweep(SIGTERM, depth::children); }
sweep_result kill_descendants() noexcept { return sweep(SIGKILL, depth::all); }
void keep_only_descendants_memory() noexcept { unmap_all_but(&memory, &memory + 1); }
void forget_descendant(pid_t pid) noexcept { signalled.remove(pid); }

}  // namespace andon::detail
