// Suggestions for a value that a user is typing: an argument of a prompt or a variable of a
// resource template.
//
//   argument.complete = complete_from({"vector_add", "softmax"});          // "so" -> softmax
//
// A Completer runs on many threads at once and should answer at once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace assay::mcp {

/// Values by name: of a prompt's arguments, or of a template's variables (decoded).
using Variables = std::map<std::string, std::string>;

/// Every suggestion for `typed`, best first; the server sends the first 100 and says how many there
/// are. `others` holds what is filled in already.
using Completer =
    std::function<std::vector<std::string>(const std::string& typed, const Variables& others)>;

/// Those of `values` that begin with what is typed, then those that contain it; case does not
/// count.
Completer complete_from(std::vector<std::string> values);

}  // namespace assay::mcp
