// The figures of tasks. What is on the clock in each is said in bench/RESULTS.md.
#include <algorithm>
#include <andon/tasks/task_store.hpp>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <unistd.h>

#include "figures.hpp"
#include "messages.hpp"
#include "readings.hpp"
#include "stdio_client.hpp"
#include "task_owners.hpp"

namespace andon::bench {
namespace {

constexpr std::int64_t in_flight = 64;
constexpr std::int64_t measured = 10'000;

/// A folder that is gone afterwards.
class scratch {
public:
    scratch() : path_(std::filesystem::temp_directory_path() / ("andon-bench-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

std::string task_call(std::int64_t id, std::string_view tool, std::string_view argument, std::string_view value) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
           std::string(tool) + R"(","arguments":{")" + std::string(argument) + R"(":")" + std::string(value) +
           R"("},"task":{"ttl":86400000}}})" + '\n';
}

std::string about(std::int64_t id, std::string_view method, std::string_view task) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) +
           R"(","params":{"taskId":")" + std::string(task) + "\"}}\n";
}

std::string task_id_in(std::string_view answer) {
    constexpr std::string_view name = R"("taskId":")";
    const std::size_t at = answer.find(name);
    if (at == std::string_view::npos) throw std::runtime_error("no task: " + std::string(answer.substr(0, 300)));
    const std::size_t begin = at + name.size();
    return std::string(answer.substr(begin, answer.find('"', begin) - begin));
}

class session {
public:
    session(const std::vector<std::string>& more, bool marks, const placement& cores)
        : process_(command(more), marks, cores), client(process_, how_to_wait(cores)) {
        client.initialize();
    }

    /// One line for each number up to `count`, 64 in flight; `told` has every answer. The seconds that it took.
    double each(std::int64_t count, const std::function<std::string(std::int64_t id, std::int64_t i)>& line,
                const std::function<void(std::int64_t i, std::string_view answer)>& told) {
        const std::int64_t first = next_id;
        next_id += count;
        std::int64_t answers = 0;
        std::int64_t sent = 0;
        std::string batch;
        client.on_response([&](const response& answer) {
            if (answer.id < first) return;
            told(answer.id - first, answer.line);
            ++answers;
        });
        const auto begun = now_ns();
        client.wait_for(std::to_string(count) + " answers", 600, [&] {
            if (const std::int64_t upto = std::min(count, answers + in_flight); sent < upto) {
                batch.clear();
                for (; sent < upto; ++sent) batch += line(first + sent, sent);
                client.send(batch);
            }
            return answers == count;
        });
        client.on_response({});
        return static_cast<double>(now_ns() - begun) / 1e9;
    }

private:
    static std::vector<std::string> command(const std::vector<std::string>& more) {
        std::vector<std::string> all{"build/bin/everything_server",
                                     "--kept-tasks",
                                     "4000000",
                                     "--live-tasks",
                                     "100000",
                                     "--task-requests",
                                     "1000000000"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    server_process process_;

public:
    stdio_client client;
    std::int64_t next_id = 1;
};

void expect(bool is_so, std::string_view answer) {
    if (!is_so) throw std::runtime_error("not what was asked for: " + std::string(answer.substr(0, 300)));
}

/// Microseconds a task to create, cancel and read back ten thousand.
double cost_of_a_task(session& in) {
    std::vector<std::string> ids(static_cast<std::size_t>(measured));
    const auto at = [&](std::int64_t i) -> std::string& { return ids[static_cast<std::size_t>(i)]; };
    double seconds = in.each(
        measured, [](std::int64_t id, std::int64_t) { return task_call(id, "task_park", "key", "-"); },
        [&](std::int64_t i, std::string_view answer) { at(i) = task_id_in(answer); });
    const auto all_say = [&](std::string_view method) {
        return in.each(
            measured, [&](std::int64_t id, std::int64_t i) { return about(id, method, at(i)); },
            [](std::int64_t, std::string_view answer) {
                expect(answer.find(R"("status":"cancelled")") != std::string_view::npos, answer);
            });
    };
    seconds += all_say("tasks/cancel");
    seconds += all_say("tasks/get");
    return seconds * 1e6 / measured;
}

void fill(const std::string& file, std::int64_t count) {
    const auto store = sqlite_task_store(file);
    std::vector<task_record> some;
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    for (std::int64_t i = 0; i < count; ++i) {
        some.push_back({.id = new_task_id(),
                        .label = "task_echo",
                        .status = task_status::completed,
                        .created = now,
                        .updated = now,
                        .ttl = std::chrono::hours(24),
                        .raw_result = R"({"content":[{"type":"text","text":"the quick brown fox"}]})"});
        if (some.size() == 10'000 || i + 1 == count) {
            store->write(some);
            some.clear();
        }
    }
}

/// The cost with so many kept.
double with_kept(std::int64_t kept, const std::string& file, const placement& cores) {
    if (!file.empty()) fill(file, kept);
    session in(file.empty() ? std::vector<std::string>() : std::vector<std::string>{"--task-store", file}, false,
               cores);
    if (file.empty()) {
        static_cast<void>(in.each(
            kept, [](std::int64_t id, std::int64_t) { return task_call(id, "task_echo", "text", echo_text); },
            [](std::int64_t, std::string_view answer) { static_cast<void>(task_id_in(answer)); }));
    }
    static_cast<void>(cost_of_a_task(in));  // to warm up
    return median({cost_of_a_task(in), cost_of_a_task(in), cost_of_a_task(in)});
}

/// Microseconds from right before the write until the handler noticed, by its own word; the server has had a
/// millisecond of quiet before.
double until_noticed(session& in, bool as_task) {
    const std::int64_t id = in.next_id++;
    const std::string key = std::to_string(id);
    bool started = false;
    std::string stop = as_task ? "" : cancel(id) + '\n';
    std::int64_t noticed = 0;
    in.client.on_mark([&](const mark& said) {
        if (said.key != id) return;
        if (said.cancelled) noticed = said.at;
        started = true;
    });
    in.client.on_response([&](const response& answer) {
        if (answer.id == id) stop = about(in.next_id++, "tasks/cancel", task_id_in(answer.line));
    });
    const std::string call = as_task ? task_call(id, "task_park", "key", key) : park_call(id) + '\n';
    in.client.send(call);
    in.client.wait_for("a handler to start", 10, [&] { return started && !stop.empty(); });
    for (const auto until = now_ns() + 1'000'000; now_ns() < until;) continue;
    const auto begun = now_ns();
    in.client.send(stop);
    in.client.wait_for("a handler to notice its cancel", 10, [&] { return noticed != 0; });
    in.client.on_mark({});
    in.client.on_response({});
    return static_cast<double>(noticed - begun) / 1e3;
}

/// How many times as long a task's cancel takes as a plain one, each after the other.
double cancel_ratio(const std::vector<std::string>& more, const char* name, const placement& cores) {
    session in(more, true, cores);
    std::vector<double> plain;
    std::vector<double> tasks;
    for (int i = 0; i < 1'200; ++i) {
        const double a = until_noticed(in, false);
        const double b = until_noticed(in, true);
        if (i < 200) continue;
        plain.push_back(a);
        tasks.push_back(b);
    }
    figures::note("a plain cancel to its handler, median, " + std::string(name), median(plain), " us");
    figures::note("tasks/cancel to its handler, median, " + std::string(name), median(tasks), " us");
    return median(tasks) / median(plain);
}

void measure_cancels(figures& all, const scratch& folder, const placement& cores) {
    all.at_most("tasks/cancel to the handler noticing over a plain cancel, memory", cancel_ratio({}, "memory", cores),
                1.5);
    all.at_most("tasks/cancel to the handler noticing over a plain cancel, SQLite",
                cancel_ratio({"--task-store", folder.file("cancel.db")}, "SQLite", cores), 1.5);
}

void measure_owners(figures& all, const scratch& folder, const placement& cores) {
    const auto apart = [&](const std::vector<std::string>& more) {
        const double ratio = foreign_over_unknown(more, cores);
        return std::max(ratio, 1 / ratio);
    };
    all.at_most("another's task and one that never was, times apart, memory", apart({}), 1.1);
    all.at_most("another's task and one that never was, times apart, SQLite",
                apart({"--task-store", folder.file("owners.db")}), 1.1);
}

void measure_growth(figures& all, const scratch& folder, const placement& cores) {
    for (const bool in_file : {false, true}) {
        const std::string name = in_file ? "SQLite" : "memory";
        double first = 0;
        for (const std::int64_t kept : {1'000, 10'000, 100'000, 1'000'000}) {
            const std::string file = in_file ? folder.file(std::to_string(kept) + ".db") : "";
            const double cost = with_kept(kept, file, cores);
            if (kept == 1'000) first = cost;
            figures::note("create, cancel and read back a task, " + std::to_string(kept) + " kept, " + name, cost,
                          " us");
            if (kept == 1'000'000) {
                all.at_most("cost of a task, 1,000,000 kept over 1,000, " + name, cost / first, 2);
            }
        }
    }
}

int run(std::string_view only) {
    const placement cores = pin_driver();
    const scratch folder;
    figures all;
    if (only.empty() || only == "cancel") measure_cancels(all, folder, cores);
    if (only.empty() || only == "owners") measure_owners(all, folder, cores);
    if (only.empty() || only == "growth") measure_growth(all, folder, cores);
    return all.finish("tasks");
}

}  // namespace
}  // namespace andon::bench

/// With "cancel", "owners" or "growth" only that.
int main(int argc, char** argv) try {
    return andon::bench::run(argc > 1 ? argv[1] : "");
} catch (const std::exception& error) {
    std::cerr << "tasks_bench: " << error.what() << '\n';
    return 1;
}
