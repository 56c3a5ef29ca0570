#include "transport/http/outgoing_message.hpp"

#include "andon/wire/line_splitter.hpp"

namespace andon::detail {

padded_line::padded_line(std::string text) : size_(text.size()), bytes_(std::move(text)) {
    bytes_.append(line_splitter::padding, '\0');
}

outgoing_message outgoing_message::from(std::string_view line, envelope_reader& reader) {
    const padded_line padded{std::string(line)};
    outgoing_message made{.line = std::string(line), .kind = message_kind::result};
    if (envelope_reader::looks_like_batch(line)) return made;
    const envelope* const message = reader.read(padded.text());
    if (message == nullptr) return made;
    made.kind = message->kind;
    made.method = message->method;
    if (message->kind != message_kind::request) return made;
    made.id.emplace(message->id);
    made.raw_id = message->raw_id;
    made.version = string_from_json(message->raw_version).value_or("");
    return made;
}

}  // namespace andon::detail
