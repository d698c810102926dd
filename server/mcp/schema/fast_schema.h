// FastSchema accepts most conforming values many times faster than the validation library. It knows
// only some keywords, and it never decides that a value does not conform.
//
//   const FastSchema schema(document);
//   const bool conforms = schema.accepts(value);  // false: the library must decide
//
// An object is immutable, and many threads may use it simultaneously.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::mcp {

class FastSchema {
 public:
  /// `schema` must be a schema that lint_schema() accepts.
  explicit FastSchema(const nlohmann::json& schema);

  /// Returns true if the value surely conforms to the schema. Returns false if it does not, or if
  /// only the library can decide: the schema has a keyword that this class does not know.
  bool accepts(const nlohmann::json& value) const;

 private:
  void take(const std::string& keyword, const nlohmann::json& value);
  bool accepts_text(const std::string& text) const;
  bool accepts_number(const nlohmann::json& value) const;
  bool accepts_items(const nlohmann::json& value) const;
  bool accepts_members(const nlohmann::json& value) const;

  bool known_ = true;   // false: the schema has an unknown keyword, so nothing is accepted
  unsigned types_ = 0;  // a bit for each type that is allowed; 0: all types
  std::optional<std::vector<nlohmann::json>> values_;  // of enum
  std::optional<double> least_, most_;
  std::optional<std::size_t> least_length_, most_length_;
  std::optional<std::size_t> least_items_, most_items_;
  std::unique_ptr<FastSchema> items_;
  std::map<std::string, FastSchema> properties_;
  std::vector<std::string> required_;
  bool closed_ = false;  // additionalProperties is false
};

}  // namespace assay::mcp
