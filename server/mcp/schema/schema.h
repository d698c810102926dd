// JSON Schema 2020-12 for tool arguments and results. schema.cc is the only file that knows the
// validator.
//
//   auto schema = Schema::compile(tool.input_schema);            // an Error names a keyword that
//   the validator would ignore for (const std::string& problem : schema->check(arguments)) ...
//
// The validator silently ignores keywords it does not know, so compile() accepts a closed list.
// `pattern` is not on it: the validator matches by std::regex, which hostile text can make
// exponentially slow. A $ref must be local ("#/$defs/..."); nothing is ever fetched. A compiled
// schema is immutable and may be used from many threads at once.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::mcp {

/// Keywords at every level are known, values have the right form, at most 32 levels. The message
/// names path and keyword.
Status lint_schema(const nlohmann::json& schema);

class Schema {
 public:
  static Result<Schema> compile(const nlohmann::json& schema);
  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  /// Empty when `instance` conforms. Otherwise at most 8 sentences that name the property and what
  /// would be valid.
  std::vector<std::string> check(const nlohmann::json& instance) const;
  const nlohmann::json& document() const;

 private:
  struct Compiled;
  explicit Schema(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace assay::mcp
