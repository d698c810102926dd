// Includes nlohmann/json, and declares that base/json.cc compiles its classes. Otherwise every
// source that uses JSON would compile the same members again, which takes a fifth of the processor
// time of the sanitized builds. So our sources include this header and not <nlohmann/json.hpp>.
//
//   const nlohmann::json value = nlohmann::json::parse(R"({"shape": [2, 3]})");
#pragma once

#include <nlohmann/json.hpp>
#include <string>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<const char*>>;
