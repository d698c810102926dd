// URI templates of RFC 6570, level 1: text with {variables}. The server reads them backwards: it
// finds the values that make a template into a given URI.
//
//   const Result<UriTemplate> spec = UriTemplate::parse("operator://{name}/spec");
//   spec->match("operator://vector_add/spec");  // {{"name", "vector_add"}}
//   spec->match("operator://a/b/spec");         // nothing: '/' is reserved
//
// A template must be unambiguous: the text between two variables begins with a reserved character.
// Immutable, thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::mcp {

/// Values by name: of the arguments of a prompt, or of the variables of a template (decoded).
using Variables = std::map<std::string, std::string>;

class UriTemplate {
 public:
  static Result<UriTemplate> parse(const std::string& text);

  /// Returns the percent-decoded values of the variables, or nothing when no non-empty values give
  /// this URI.
  std::optional<Variables> match(std::string_view uri) const;
  const std::vector<std::string>& variables() const { return variables_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> literals_;  // before, between and after the variables
  std::vector<std::string> variables_;
};

}  // namespace assay::mcp
