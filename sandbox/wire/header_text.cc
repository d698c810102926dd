#include "sandbox/wire/header_text.h"

#include <algorithm>
#include <string>

namespace assay::sandbox {

TextShape shape_of(std::string_view text) {
  TextShape shape;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      shape.nesting = std::max(shape.nesting, ++depth);
      ++shape.values;
    } else if (c == ',') {
      ++shape.values;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return shape;
}

Result<nlohmann::json> parse_header(std::string_view text, std::size_t most_values) {
  const TextShape shape = shape_of(text);
  if (shape.values > most_values)
    return fail(ErrorCode::corrupt,
                "the header has more than " + std::to_string(most_values) + " values");
  if (shape.nesting > kMaxHeaderNesting)
    return fail(ErrorCode::corrupt,
                "the header is nested deeper than " + std::to_string(kMaxHeaderNesting));
  nlohmann::json header;
  try {
    header = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::corrupt, std::string("the header is no JSON: ") + error.what());
  }
  if (!header.is_object()) return fail(ErrorCode::corrupt, "the header is no JSON object");
  const auto type = header.find("type");
  if (type == header.end() || !type->is_string())
    return fail(ErrorCode::corrupt, "the header has no string `type`");
  return header;
}

}  // namespace assay::sandbox
