// URI templates of RFC 6570, level 1: text with {variables}. Here they are read backwards: which
// values would have made this URI?
//
//   auto spec = UriTemplate::parse("operator://{name}/spec");
//   spec->match("operator://vector_add/spec")     ->  {{"name", "vector_add"}}
//   spec->match("operator://a/b/spec")            ->  nothing: an expansion percent-encodes '/'
//
// A template must be unambiguous: between two variables there is text that begins with a reserved
// character. Immutable, thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/completion.h"

namespace assay::mcp {

class UriTemplate {
 public:
  static Result<UriTemplate> parse(const std::string& text);

  /// The variables' values, percent-decoded; nothing when the URI is no expansion with non-empty
  /// values.
  std::optional<Variables> match(std::string_view uri) const;
  const std::vector<std::string>& variables() const { return variables_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> literals_;  // one more than variables: before, between and after them
  std::vector<std::string> variables_;
};

}  // namespace assay::mcp
