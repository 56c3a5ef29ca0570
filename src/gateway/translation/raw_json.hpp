// JSON as it came: objects and arrays as slices of their text, so that what nobody looks at keeps its bytes. A number
// that goes through a double comes out as another one.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace andon::gateway {

/// What one side sent cannot be said to the other: it is no object, or says a thing twice. The message says which.
class translation_fault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct raw_member {
    std::string_view raw_name;  ///< a JSON string
    std::string_view raw_value;

    /// Escapes are read: `"\u0061"` is `a`.
    [[nodiscard]] bool is(std::string_view name) const;
};

/// The members of an object in their order. For text that envelope_reader let through, which is valid to its last byte
/// and not nested deeply; other text is refused or split somehow, and nothing is read behind its end.
class raw_object {
public:
    /// `what` is it, in words: for the fault where it is no object. No text is an object without members.
    raw_object(std::string_view raw, std::string_view what);

    [[nodiscard]] const std::vector<raw_member>& members() const& noexcept { return members_; }
    [[nodiscard]] std::vector<raw_member> members() && noexcept { return std::move(members_); }
    /// Empty where there is no such member; a fault where there are two, since the receiver might take the other one.
    [[nodiscard]] std::string_view at(std::string_view name) const;

private:
    std::string_view what_;
    std::vector<raw_member> members_;
};

[[nodiscard]] std::vector<std::string_view> raw_elements(std::string_view raw, std::string_view what);

[[nodiscard]] bool is_raw_object(std::string_view raw) noexcept;
[[nodiscard]] bool is_raw_array(std::string_view raw) noexcept;
[[nodiscard]] bool is_raw_string(std::string_view raw) noexcept;

/// Puts an object together.
class raw_writer {
public:
    /// `name` is one of ours: it needs no escapes.
    raw_writer& add(std::string_view name, std::string_view raw_value);
    raw_writer& add(const raw_member& member);
    /// At least one, without braces.
    raw_writer& add_members(std::string_view raw_members);
    [[nodiscard]] bool empty() const noexcept { return text_.size() == 1; }
    [[nodiscard]] std::string done() &&;

private:
    std::string text_ = "{";
};

}  // namespace andon::gateway
