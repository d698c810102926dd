// Matches URIs against URI templates of RFC 6570, level 1. Such a template is a text that contains
// variables in braces. A match gives the values of the variables.
//
//   const Result<UriTemplate> spec = UriTemplate::parse("operator://{name}/spec");
//   spec->match("operator://vector_add/spec");  // {{"name", "vector_add"}}
//   spec->match("operator://a/b/spec");         // nothing: '/' is reserved
//
// A template must be unambiguous: the text between two variables must begin with a reserved
// character. Immutable, thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::mcp {

/// Values by name. The names are the arguments of a prompt or the variables of a template. The
/// values of a template's variables are percent-decoded.
using Variables = std::map<std::string, std::string>;

class UriTemplate {
 public:
  static Result<UriTemplate> parse(const std::string& text);

  /// Returns the percent-decoded values of the variables. Returns nothing if the URI does not
  /// match, or if a variable would have an empty value.
  std::optional<Variables> match(std::string_view uri) const;
  const std::vector<std::string>& variables() const { return variables_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> literals_;  // the texts before, between and after the variables
  std::vector<std::string> variables_;
};

}  // namespace assay::mcp
