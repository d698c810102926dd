// Parses numeric options that follow a name, such as "7?wrong=0.3&repair=0.6" for the simulated
// model or "leader?rounds=4" for an agent. Each option has a default and a range. The error for an
// invalid option lists the valid options. Pure functions, thread-safe.
//
//   const std::vector<NumberOption> known = {{"rounds", 8, 1, 100, "number of edits"}};
//   Result<NamedOptions> named = parse_options("leader?rounds=4", known);
//   named->name;              // "leader"
//   named->values["rounds"];  // 4
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::agents {

struct NumberOption {
  std::string name;
  double standard = 0;  // the default value
  double least = 0, most = 1;
  std::string meaning;
  bool whole = false;  // true: only integers are valid
};

/// The values of all known options, including the defaults.
using NumberValues = std::map<std::string, double>;

struct NamedOptions {
  std::string name;  // the text before the '?'
  NumberValues values;
};

/// Splits the text into name and options. Errors: invalid_argument if a key is unknown or repeated,
/// or if a value is not a number or out of range; the message lists the valid options.
Result<NamedOptions> parse_options(const std::string& text, const std::vector<NumberOption>& known);

/// Returns a text that describes the options: "rounds=8 (1 to 100): number of edits; ...".
std::string describe_options(const std::vector<NumberOption>& known);

}  // namespace assay::agents
