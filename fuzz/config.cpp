// Any bytes as andon.toml: an error in words that are safe to show, or settings that can be written and read again.
#include "gateway/config/config.hpp"

#include <boost/json.hpp>

#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using andon::fuzz::require;
    namespace gateway = andon::gateway;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const gateway::configuration config = gateway::parse_config(text, "/etc/andon.toml");
        for (const gateway::server_config& each : config.servers) require(!each.path.empty(), "a server has a path");
        const std::string shown = gateway::shown_config_toml(config);
        try {
            const gateway::configuration again = gateway::parse_config(shown, "/etc/andon.toml");
            require(gateway::shown_config(again) == gateway::shown_config(config), "it is read as it is shown");
        } catch (const gateway::config_error& error) {
            std::fprintf(stderr, "%s\n%s\n", shown.c_str(), error.what());
            require(false, "what is shown can be read");
        }
    } catch (const gateway::config_error& error) {
        require(!error.problems().empty(), "an error says why");
        for (const std::string& each : error.problems()) {
            for (const char c : each) {
                const auto byte = static_cast<unsigned char>(c);
                require(byte >= 0x20 && byte != 0x7F, "no control character");
            }
        }
    }
    return 0;
}
