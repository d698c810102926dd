// Options with numeric values after a name, such as "7?wrong=0.3&repair=0.6" of the simulated model
// or "leader?rounds=4" of an agent. Each option has a default and a range. The error for a bad
// option lists the valid ones. Pure functions, thread-safe.
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
  double standard = 0;  // the default
  double least = 0, most = 1;
  std::string meaning;
  bool whole = false;  // integers only
};

/// The values of all known options, including the defaults.
using NumberValues = std::map<std::string, double>;

struct NamedOptions {
  std::string name;  // the text before the '?'
  NumberValues values;
};

/// invalid_argument lists the valid options for an unknown or repeated key, a value that is not a
/// number, or a number out of range.
Result<NamedOptions> parse_options(const std::string& text, const std::vector<NumberOption>& known);

/// Describes the options: "rounds=8 (1 to 100): number of edits; ...".
std::string describe_options(const std::vector<NumberOption>& known);

}  // namespace assay::agents
