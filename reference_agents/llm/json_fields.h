// Reads fields of untrusted JSON. If a field is absent, has another type or does not fit into 64
// bits with a sign, the functions return a default value; they never throw. Pure functions,
// thread-safe.
//
//   std::string text = string_field(reply, "choices", 0, "message", "content");
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/json.h"

namespace assay::agents {

inline const nlohmann::json* child(const nlohmann::json& value, const char* key) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(key);
  return found == value.end() ? nullptr : &*found;
}

inline const nlohmann::json* child(const nlohmann::json& value, int index) {
  if (!value.is_array() || index < 0 || static_cast<std::size_t>(index) >= value.size())
    return nullptr;
  return &value[static_cast<std::size_t>(index)];
}

/// Returns the value at a path of keys and indices, or null if the path does not exist.
template <class... Path>
const nlohmann::json* field(const nlohmann::json& root, Path... path) {
  const nlohmann::json* at = &root;
  ((at = at == nullptr ? nullptr : child(*at, path)), ...);
  return at;
}

template <class... Path>
std::string string_field(const nlohmann::json& root, Path... path) {
  const nlohmann::json* at = field(root, path...);
  return at != nullptr && at->is_string() ? at->get<std::string>() : std::string();
}

template <class... Path>
std::int64_t integer_field(const nlohmann::json& root, Path... path) {
  const nlohmann::json* at = field(root, path...);
  if (at == nullptr || !at->is_number_integer()) return 0;
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  const bool too_large =
      at->is_number_unsigned() && at->get<std::uint64_t>() > static_cast<std::uint64_t>(kHighest);
  return too_large ? 0 : at->get<std::int64_t>();
}

template <class... Path>
double number_field(const nlohmann::json& root, Path... path) {
  const nlohmann::json* at = field(root, path...);
  return at != nullptr && at->is_number() ? at->get<double>() : 0.0;
}

}  // namespace assay::agents
