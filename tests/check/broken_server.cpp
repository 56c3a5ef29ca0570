// A server with one defect, or none: broken_server [--defect NAME] [--http PORT] [--no-sessions]
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <iostream>
#include <string>

#include "check/plain_http.hpp"
#include "check/plain_server.hpp"

namespace {

struct standard_output final : broken::channel {
    void send(const broken::json::object& message) override {
        const std::lock_guard lock(mutex);
        std::cout << broken::json::serialize(message) << '\n' << std::flush;
    }
    std::mutex mutex;
};

}  // namespace

int main(int argc, char** argv) {
    std::string defect;
    int port = -1;
    bool sessions = true;
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        if (flag == "--defect" && i + 1 < argc) defect = argv[++i];
        if (flag == "--http" && i + 1 < argc) port = std::stoi(argv[++i]);
        if (flag == "--no-sessions") sessions = false;
    }
    // Threads of calls in flight may outlive main(): what they use is never destroyed.
    auto& server = *new broken::plain_server(defect, port >= 0);
    if (port >= 0) broken::serve_http(server, static_cast<std::uint16_t>(port), sessions);
    const auto legacy = std::make_shared<standard_output>();
    std::string line;
    while (std::getline(std::cin, line)) {
        boost::system::error_code failed;
        const broken::json::value message = broken::json::parse(line, failed);
        if (failed || !message.is_object()) continue;
        if (line.find("io.modelcontextprotocol/protocolVersion") != std::string::npos) legacy->modern = true;
        server.take(message.get_object(), legacy);
    }
    std::_Exit(0);
}
