// The id of a JSON-RPC request, kept exactly (rule MSG-3).
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace andon {

/// Integers that an int64 holds whatever their value; bool and characters are no ids.
template <class T>
concept id_integer = std::integral<T> &&(std::signed_integral<T> || sizeof(T) < sizeof(std::int64_t)) &&
                     !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
                     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// An id that somebody else owns: what look-ups take, so that none of them allocates.
class request_id_view {
public:
    template <id_integer T>
    constexpr request_id_view(T number) noexcept : number_(number) {}  // NOLINT(google-explicit-constructor)
    constexpr request_id_view(std::string_view text) noexcept          // NOLINT(google-explicit-constructor)
        : text_(text), is_string_(true) {}
    constexpr request_id_view(const char* text) noexcept  // NOLINT(google-explicit-constructor)
        : request_id_view(std::string_view(text)) {}
    request_id_view(const std::string& text) noexcept  // NOLINT(google-explicit-constructor)
        : request_id_view(std::string_view(text)) {}

    [[nodiscard]] constexpr bool is_string() const noexcept { return is_string_; }
    [[nodiscard]] constexpr std::int64_t number() const noexcept { return number_; }
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

    /// Equal only in type and value: `1` is not `"1"`.
    friend constexpr bool operator==(const request_id_view& a, const request_id_view& b) noexcept {
        return a.is_string_ == b.is_string_ && a.number_ == b.number_ && a.text_ == b.text_;
    }
    /// Integers by value, then strings byte by byte.
    friend constexpr std::strong_ordering operator<=>(const request_id_view& a, const request_id_view& b) noexcept {
        if (auto by_type = a.is_string_ <=> b.is_string_; by_type != 0) return by_type;
        if (auto by_number = a.number_ <=> b.number_; by_number != 0) return by_number;
        return a.text_ <=> b.text_;
    }

    /// The same id always gives the same hash for the same seed; without the seed it cannot be predicted.
    [[nodiscard]] std::uint64_t hash(std::uint64_t seed) const noexcept;

private:
    std::int64_t number_ = 0;
    std::string_view text_;
    bool is_string_ = false;
};

/// As it is shown to people: `42`, or `"abc"` in quotes, made visible and shortened.
[[nodiscard]] std::string to_string(const request_id_view& id);
std::ostream& operator<<(std::ostream& out, const request_id_view& id);

/// An id of one's own.
class request_id {
public:
    template <id_integer T>
    request_id(T number) noexcept : value_(std::int64_t{number}) {}     // NOLINT(google-explicit-constructor)
    request_id(std::string text) noexcept : value_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
    request_id(const char* text) : value_(std::string(text)) {}         // NOLINT(google-explicit-constructor)
    explicit request_id(const request_id_view& id);

    /// The integer that a JSON number stands for, exactly: `1`, `1.0` and `10e-1` are 1; `1.9`, `1e30` and anything
    /// that is no JSON number are nothing.
    [[nodiscard]] static std::optional<std::int64_t> integer_from_json(std::string_view number) noexcept;

    [[nodiscard]] request_id_view view() const noexcept;
    operator request_id_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool is_string() const noexcept { return std::holds_alternative<std::string>(value_); }

    friend bool operator==(const request_id& a, const request_id& b) noexcept { return a.view() == b.view(); }
    friend std::strong_ordering operator<=>(const request_id& a, const request_id& b) noexcept {
        return a.view() <=> b.view();
    }

private:
    std::variant<std::int64_t, std::string> value_;
};

[[nodiscard]] inline std::string to_string(const request_id& id) { return to_string(id.view()); }
inline std::ostream& operator<<(std::ostream& out, const request_id& id) { return out << id.view(); }

}  // namespace andon

template <>
struct std::hash<andon::request_id_view> {
    std::size_t operator()(const andon::request_id_view& id) const noexcept { return id.hash(0); }
};

template <>
struct std::hash<andon::request_id> {
    std::size_t operator()(const andon::request_id& id) const noexcept { return id.view().hash(0); }
};
