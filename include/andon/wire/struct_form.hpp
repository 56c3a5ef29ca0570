// How a described struct is read from JSON, written to it and shown in a schema: member by member.
#pragma once

#include <algorithm>
#include <array>
#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <concepts>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "andon/wire/json_form.hpp"

namespace andon {

/// What the schema says about a member.
struct member_description {
    std::string_view member;
    std::string_view text;
};

namespace detail {

template <described_struct T>
struct json_form<T> {
    static_assert(std::default_initializable<T>, "andon: a described struct needs a default constructor");

    static std::string expected() { return "an object"; }

    static json::object schema(const schema_place& at) {
        if (auto reference = reference_to(typeid(T), at)) return *std::move(reference);
        const schema_place here{.parent = &at, .type = &typeid(T)};
        const T defaults{};
        json::object properties;
        json::array required;
        for_each_member([&]<class D>(D) {
            const auto& value = defaults.*D::pointer;
            auto property = schema_of_member<type_of<D>>({&here, "/properties/", D::name});
            add_description(property, description(D::name));
            if (!may_be_absent<D>(value)) {
                required.emplace_back(D::name);
            } else if (auto written = written_default(value)) {
                property["default"] = *std::move(written);
            }
            properties[D::name] = std::move(property);
        });
        auto out = schema_of_type("object");
        out["properties"] = std::move(properties);
        if (!required.empty()) out["required"] = std::move(required);
        out["additionalProperties"] = false;
        return out;
    }

    static T read(const json::value& from, const json_place& at) {
        const auto& given = read_object(from, at);
        refuse_unknown_members(at, given, names);
        T out{};
        for_each_member([&]<class D>(D) {
            using form = json_form<type_of<D>>;
            const json_place here{.parent = &at, .name = D::name};
            const auto* value = given.if_contains(D::name);
            if (value != nullptr && !(is_optional<type_of<D>> && value->is_null())) {
                out.*D::pointer = form::read(*value, here);
            } else if (!may_be_absent<D>(out.*D::pointer)) {
                refuse_missing(here, form::expected());
            }
        });
        return out;
    }

    static json::object write(const T& value, const json_place& at) {
        json::object out;
        for_each_member([&]<class D>(D) {
            const auto& member = value.*D::pointer;
            if constexpr (is_optional<type_of<D>>) {
                if (!member) return;
            }
            out[D::name] = json_form<type_of<D>>::write(member, {.parent = &at, .name = D::name});
        });
        return out;
    }

    static bool equal(const T& a, const T& b) {
        bool same = true;
        for_each_member([&]<class D>(D) { same = same && json_form<type_of<D>>::equal(a.*D::pointer, b.*D::pointer); });
        return same;
    }

private:
    using members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;
    template <class D>
    using type_of = std::remove_cvref_t<decltype(std::declval<T&>().*D::pointer)>;

    static constexpr auto names = []<template <class...> class List, class... D>(List<D...>) {
        return std::array<std::string_view, sizeof...(D)>{D::name...};
    }(members());

    static constexpr bool has_member(std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    }

    template <class F>
    static void for_each_member(F&& f) {
        boost::mp11::mp_for_each<members>(std::forward<F>(f));
    }

    static constexpr std::string_view description(std::string_view name) {
        if constexpr (requires { T::descriptions; }) {
            static_assert(std::all_of(std::begin(T::descriptions), std::end(T::descriptions),
                                      [](const member_description& each) { return has_member(each.member); }),
                          "andon: descriptions names a member that there is not");
            for (const member_description& each : T::descriptions) {
                if (each.member == name) return each.text;
            }
        }
        return {};
    }

    static constexpr bool listed_as_optional(std::string_view name) {
        if constexpr (requires { T::optional_members; }) {
            static_assert(std::all_of(std::begin(T::optional_members), std::end(T::optional_members), has_member),
                          "andon: optional_members names a member that there is not");
            return std::find(std::begin(T::optional_members), std::end(T::optional_members), name) !=
                   std::end(T::optional_members);
        }
        return false;
    }

    /// `value` is what `T{}` gives to the member.
    template <class D>
    static bool may_be_absent(const type_of<D>& value) {
        if constexpr (is_optional<type_of<D>> || listed_as_optional(D::name)) {
            return true;
        } else {
            return !json_form<type_of<D>>::equal(value, type_of<D>{});
        }
    }

    template <class M>
    static json::object schema_of_member(const schema_place& at) {
        if constexpr (is_optional<M>)
            return json_form<typename M::value_type>::schema(at);
        else
            return json_form<M>::schema(at);
    }

    /// Nothing for an empty optional, and for what JSON cannot say: a limit that is infinite unless one is given.
    template <class M>
    static std::optional<json::value> written_default(const M& value) {
        if constexpr (is_optional<M>) {
            if (!value) return std::nullopt;
        }
        try {
            return json_form<M>::write(value, {});
        } catch (const std::domain_error&) {
            return std::nullopt;
        }
    }
};

}  // namespace detail
}  // namespace andon
