#include "base/json_depth.h"

#include <cstddef>
#include <string>
#include <utility>

namespace assay {

bool deeper_than(std::string_view bytes, int max_depth) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Result<nlohmann::json> parse_json(std::string_view text, int max_depth) {
  if (deeper_than(text, max_depth))
    return fail(ErrorCode::resource_exhausted,
                "nests deeper than " + std::to_string(max_depth) + " levels");
  nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return fail(ErrorCode::corrupt, "is not JSON in UTF-8");
  return document;
}

}  // namespace assay
