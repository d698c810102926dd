// Encodes and decodes base64 with padding (RFC 4648, section 4), for blobs, header values, cursors
// and bytes in stored JSON. Pure functions, thread-safe.
//
//   const std::string text = base64_encode("one");  // "b25l"
//   base64_decode(text);                            // "one"
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

std::string base64_encode(std::string_view bytes);
/// Returns the decoded bytes. Returns nothing if `text` is not exactly what base64_encode() gives,
/// for example because it has line breaks or lacks padding.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace assay
