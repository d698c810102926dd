// Checks tool arguments and results against a JSON Schema 2020-12. Only schema.cc depends on the
// validation library.
//
//   const Result<Schema> schema = Schema::compile({{"type", "object"}, {"required", {"name"}}});
//   const std::vector<std::string> problems = schema->check(nlohmann::json::object());
//   // {"missing required property 'name'"}
//
// compile() accepts only a fixed list of keywords, because the validator silently ignores keywords
// that it does not know. `pattern` is not on the list. The validator would use std::regex for it,
// which hostile text can make exponentially slow. A $ref must be local ("#/$defs/..."), so that
// nothing is fetched. A compiled schema is immutable, and many threads may use it simultaneously.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::mcp {

/// Checks that the schema has only known keywords with valid values, and at most 32 nested levels.
/// The Error's message names the path and the keyword of the problem.
Status lint_schema(const nlohmann::json& schema);

constexpr std::size_t kMaxProblems = 8;

/// Explains why `instance` does not conform, so that an agent can correct it. Each problem names
/// the property, its value, and the valid values: "unknown property 'splitt'; valid: split". The
/// function checks the keywords for type, enum, const, required, additionalProperties, bounds and
/// lengths. It also checks nested values through properties, items and local $ref. It does not
/// check combinations (oneOf, not, ...). If only a combination fails, it returns nothing, and
/// Schema::check() returns the validator's own message.
std::vector<std::string> explain(const nlohmann::json& schema, const nlohmann::json& instance);

class Schema {
 public:
  static Result<Schema> compile(const nlohmann::json& schema);
  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  /// Checks `instance`. Returns nothing if it conforms, otherwise at most kMaxProblems sentences.
  /// Each sentence names a property and the valid values.
  std::vector<std::string> check(const nlohmann::json& instance) const;
  /// The same as check(), but the library decides in every case. check() asks the library only if
  /// FastSchema does not accept the instance.
  std::vector<std::string> check_with_library(const nlohmann::json& instance) const;
  const nlohmann::json& document() const;

 private:
  struct Compiled;
  explicit Schema(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace assay::mcp
