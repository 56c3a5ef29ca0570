// Any text as the number of an id: exact, or nothing; whatever strtod takes it for, it never disagrees.
#include "andon/core/request_id.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using andon::fuzz::require;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto number = andon::request_id::integer_from_json(text);
    if (number) {
        char* end = nullptr;
        const double near = std::strtod(text.c_str(), &end);
        require(end == text.c_str() + text.size(), "what is a JSON number is a number to others too");
        const double exact = static_cast<double>(*number);
        require(std::abs(near - exact) <= std::abs(exact) * 1e-15, "the same number as the standard library reads");
        require(andon::request_id::integer_from_json(std::to_string(*number)) == number, "its plain spelling is equal");
    }
    const andon::request_id id(text);
    require(id == andon::request_id(id.view()), "an id is equal to its copy");
    require(id.view().hash(size) == andon::request_id_view(text).hash(size), "and hashes alike");
    require(to_string(id).size() < 100, "and is shown in a bounded form");
    return 0;
}
