#include "call/elicitation_form.hpp"

#include <array>
#include <cerrno>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <unistd.h>

#include "andon/core/cancel_callback.hpp"
#include "andon/core/visible_text.hpp"
#include "andon/wire/message.hpp"
#include "call/argument_schema.hpp"
#include "call/safe_text.hpp"
#include "call/tool_arguments.hpp"
#include "gateway/plain_json.hpp"
#include "terminal.hpp"

namespace andon::app {
namespace {

constexpr std::size_t longest_line = 65'536;

void tell(const std::string& text) { static_cast<void>(::write(STDERR_FILENO, text.data(), text.size())); }

/// Lines from standard input, until nobody wants them.
class line_reader {
public:
    explicit line_reader(const cancel_token& token)
        : wake_(::eventfd(0, EFD_CLOEXEC)), on_cancel_(token, wake{wake_}) {}
    line_reader(const line_reader&) = delete;
    line_reader& operator=(const line_reader&) = delete;
    ~line_reader() { ::close(wake_); }

    /// Nothing: the end of the input, or the cancel.
    std::optional<std::string> line(const std::string& prompt) {
        tell(prompt);
        for (;;) {
            if (const auto end = waiting_.find('\n'); end != std::string::npos) {
                std::string found = waiting_.substr(0, end);
                waiting_.erase(0, end + 1);
                return found;
            }
            std::array<pollfd, 2> ready{{{STDIN_FILENO, POLLIN, 0}, {wake_, POLLIN, 0}}};
            if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return std::nullopt;
            if (ready[1].revents != 0) return std::nullopt;
            if (ready[0].revents == 0) continue;
            std::array<char, 4'096> part;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
            const ssize_t got = ::read(STDIN_FILENO, part.data(), part.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0 || waiting_.size() > longest_line) return std::nullopt;
            waiting_.append(part.data(), static_cast<std::size_t>(got));
        }
    }

private:
    struct wake {
        int fd;
        void operator()() const noexcept { static_cast<void>(::eventfd_write(fd, 1)); }
    };

    int wake_;
    std::string waiting_;
    cancel_callback<wake> on_cancel_;
};

/// `name (integer, needed) [30]: `
std::string prompt_for(const argument_schema& field) {
    std::string text = "  " + visible_text(field.name, 100);
    if (!field.description.empty()) text += " - " + visible_text(field.description, 300);
    text += " (" +
            (field.choices.empty() ? field.type_text()
                                   : "one of " + visible_text(gateway::plain_json(field.choices), 400)) +
            (field.required ? ", needed)" : ")");
    if (!field.fallback.is_null()) text += " [" + visible_text(gateway::plain_json(field.fallback), 100) + ']';
    return text + ": ";
}

/// What people say for true and false.
std::string_view as_json_of(std::string_view said, const argument_schema& field) {
    if (field.types != std::vector<std::string>{"boolean"}) return said;
    if (said == "y" || said == "yes") return "true";
    return said == "n" || said == "no" ? "false" : said;
}

enum class field_result { filled, left_out, ended };

field_result fill_in(const argument_schema& field, line_reader& from, json::object& content) {
    for (;;) {
        const auto said = from.line(prompt_for(field));
        if (!said) return field_result::ended;
        if (said->empty() && !field.fallback.is_null()) {
            content[field.name] = field.fallback;
            return field_result::filled;
        }
        if (said->empty() && !field.required) return field_result::left_out;
        try {
            json::value value = value_from(as_json_of(*said, field), field);
            const auto fault = said->empty() ? "must be filled in" : field.fault_of(value);
            if (!fault) {
                content[field.name] = std::move(value);
                return field_result::filled;
            }
            tell("  it " + *fault + '\n');
        } catch (const std::invalid_argument& error) {
            tell(std::string("  ") + error.what() + '\n');
        }
    }
}

}  // namespace

json::object elicitation_form::answer(const json::object& params, const cancel_token& token) {
    const std::lock_guard lock(one_at_a_time_);
    const std::string_view mode = text_in(params, "mode");
    const bool form = mode.empty() || mode == "form";
    if (!form || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
        display_.say("the server asks: " + visible_text(text_in(params, "message"), 1'024) + " (declined: " +
                     (form ? "there is no terminal to answer from)" : "it can be answered in a browser only)"));
        return {{"action", "decline"}};
    }
    display_.pause();
    json::object answer = ask(params, token);
    display_.resume();
    return answer;
}

json::object elicitation_form::ask(const json::object& params, const cancel_token& token) {
    line_reader from(token);
    tell("The server asks: " + visible_lines(text_in(params, "message")) + '\n');
    for (;;) {
        const auto said = from.line("Answer it? yes, no (decline) or cancel: ");
        if (!said || *said == "c" || *said == "cancel") {
            if (!said) tell("\n");
            return {{"action", "cancel"}};
        }
        if (*said == "n" || *said == "no" || *said == "decline") return {{"action", "decline"}};
        if (*said == "y" || *said == "yes") break;
    }
    json::object content;
    if (const json::object* const schema = object_in(params, "requestedSchema")) {
        for (argument_schema& field : arguments_in(*schema)) {
            if (fill_in(field, from, content) == field_result::ended) {
                tell("\n");
                return {{"action", "cancel"}};
            }
        }
    }
    return {{"action", "accept"}, {"content", std::move(content)}};
}

}  // namespace andon::app
