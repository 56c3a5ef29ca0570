// Messages of the plain server.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace broken {

namespace json = boost::json;

inline json::object answer(const json::value& id, json::object result, bool modern) {
    if (modern && !result.contains("resultType")) result["resultType"] = "complete";
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

inline json::object error(const json::value& id, int code, const char* text) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}};
}

inline json::object notification(const char* method, json::object params) {
    return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

inline json::object member(const json::object& of, const char* name) {
    const json::value* const found = of.if_contains(name);
    return found != nullptr && found->is_object() ? found->get_object() : json::object();
}

inline bool ended(const std::string& state) { return state != "working"; }

}  // namespace broken
