// The bytes of a connection as the response to one request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace andon::detail {

/// Beast's parser behind a wall. Bytes in, a head and pieces of a body out, the same
/// ones whatever the cuts between the reads. What a stranger's endless head costs is limited; the body is not kept
/// here, and how much of it is too much is for whoever takes the pieces to say. Interim responses (1xx) are stepped
/// over.
class response_reader {
public:
    static constexpr std::size_t usual_longest_head = std::size_t{64} << 10U;

    explicit response_reader(std::size_t longest_head = usual_longest_head);
    response_reader(const response_reader&) = delete;
    response_reader& operator=(const response_reader&) = delete;
    ~response_reader();

    enum class step : std::uint8_t {
        more,    ///< more bytes are needed
        head,    ///< status and headers are there
        body,    ///< piece() has some of it
        end,     ///< the response is whole
        failed,  ///< it is no HTTP, or more than we take: see error()
    };
    void add(std::string_view bytes);
    /// Until it says more; after end and failed it is over.
    [[nodiscard]] step next();
    /// No byte comes any more: the end of a body that has no length, or failed.
    [[nodiscard]] step finish();

    /// Whether any byte has come.
    [[nodiscard]] bool begun() const noexcept;

    // From head on.

    [[nodiscard]] unsigned status() const noexcept;
    /// As "404 Not Found"; safe to show.
    [[nodiscard]] const std::string& status_text() const noexcept;
    /// By its name in lower case; empty where there is none. Of several the first counts.
    [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
    /// The media type in lower case, without parameters.
    [[nodiscard]] std::string media_type() const;
    /// Once ended: the connection can be used again. Nothing came behind the end, which would belong to nobody.
    [[nodiscard]] bool reusable() const noexcept;

    /// Good until the next step or the next bytes.
    [[nodiscard]] std::string_view piece() const noexcept;
    [[nodiscard]] const std::string& error() const noexcept;

private:
    class parsing;
    std::unique_ptr<parsing> parsing_;
};

}  // namespace andon::detail
