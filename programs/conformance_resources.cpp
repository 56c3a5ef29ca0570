// The resources of the conformance suite, and the suggestions for their template.
#include "conformance_resources.hpp"

#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

#include "conformance_media.hpp"

namespace everything {
namespace {

using andon::call;
using andon::resource_request;
using andon::resource_result;

std::string text(call&) { return "This is the content of the static text resource."; }

resource_result binary(call&) { return resource_result().blob(png); }

std::string watched(call&) { return "This resource can be subscribed to."; }

std::string data_of_id(const resource_request& asked, call&) {
    const std::string& id = asked.variables.at("id");
    return andon::json::serialize(
        andon::json::object{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}});
}

std::vector<std::string> ids_like(const andon::completion_request& given, call&) {
    std::vector<std::string> found;
    for (int id = 100; id < 300; ++id) {
        std::string text = std::to_string(id);
        if (text.starts_with(given.value)) found.push_back(std::move(text));
    }
    return found;
}

}  // namespace

void add_conformance_resources(andon::server& server) {
    server.resource({.uri = "test://static-text", .name = "static-text", .description = "A text"}, text);
    server.resource(
        {.uri = "test://static-binary", .name = "static-binary", .description = "A picture", .mime_type = "image/png"},
        binary);
    server.resource(
        {.uri = "test://watched-resource", .name = "watched-resource", .description = "A text to subscribe to"},
        watched);
    server.resource({.uri = "test://template/{id}/data",
                     .name = "template-data",
                     .description = "What there is on an id",
                     .mime_type = "application/json"},
                    data_of_id);
    server.completion("test://template/{id}/data", ids_like);
}

}  // namespace everything
