// A server with a tool for every situation: for tests, for benchmarks, and to try a client on.
#include <andon/server/server.hpp>
#include <iostream>
#include <stdexcept>

#include "conformance_prompts.hpp"
#include "conformance_questions.hpp"
#include "conformance_resources.hpp"
#include "conformance_tasks.hpp"
#include "conformance_tools.hpp"
#include "server_flags.hpp"
#include "work_tools.hpp"

int main(int argc, char** argv) try {
    bool help = false;
    everything::server_flags flags = everything::read_flags(argc, argv, help);
    if (help) {
        std::cout << everything::usage;
        return 0;
    }
    andon::server_options options{.name = "everything", .version = "0.1.0", .tasks = std::move(flags.tasks)};
    if (flags.era) std::erase_if(options.revisions, [&](andon::revision each) { return era_of(each) != *flags.era; });
    andon::server server(std::move(options));
    everything::add_work_tools(server);
    everything::add_conformance_tools(server);
    everything::add_conformance_questions(server);
    everything::add_conformance_prompts(server);
    everything::add_conformance_resources(server);
    everything::add_conformance_tasks(server);
    if (!flags.http) {
        server.serve_stdio();
        return 0;
    }
    const std::string scheme = flags.http->certificate.empty() ? "http" : "https";
    const std::string path = flags.http->path;
    server.serve_http(std::move(*flags.http), [&](std::uint16_t port) {
        std::cerr << "listening on " + scheme + "://127.0.0.1:" + std::to_string(port) + path + "\n" << std::flush;
    });
} catch (const std::invalid_argument& error) {
    std::cerr << "everything_server: " << error.what() << "\n\n" << everything::usage;
    return 2;
} catch (const std::exception& error) {
    std::cerr << "everything_server: " << error.what() << '\n';
    return 1;
}
