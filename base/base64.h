// Base64 (RFC 4648, section 4, with padding), the only one in this program: blobs, header values,
// cursors, bytes in stored JSON. Pure functions, thread-safe.
//
//   base64_decode(base64_encode(bytes)) == bytes
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

std::string base64_encode(std::string_view bytes);
/// Nothing when `text` is not exactly what base64_encode() gives: no line breaks, no missing
/// padding.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace assay
