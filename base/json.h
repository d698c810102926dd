// Includes nlohmann/json, and declares that base/json.cc compiles its classes. Otherwise every
// source that uses JSON would compile the same members again, which takes a fifth of the processor
// time of the sanitized builds. So our sources include this header and not <nlohmann/json.hpp>.
//
//   const nlohmann::json value = nlohmann::json::parse(R"({"shape": [2, 3]})");
//   const std::string text = json_text(value);  // {"shape":[2,3]}
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<const char*>>;

namespace assay {

/// Returns the same text as value.dump(), several times faster. Replaces bytes that are no valid
/// UTF-8 by U+FFFD, where dump() would throw an exception.
std::string json_text(const nlohmann::json& value);
/// Returns the number of bytes of json_text(value) without writing the text.
std::size_t json_text_bytes(const nlohmann::json& value);

}  // namespace assay
