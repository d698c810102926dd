// Numbers that ride on a name: "7?wrong=0.3&repair=0.6" of a simulated model, "leader?rounds=4" of
// an agent. Every option has a default and a range; whatever is not one of them is an error that
// names them all. Pure functions, safe from any thread.
//
//   const std::vector<NumberOption> known = {{"rounds", 8, 1, 100, "edits asked for"}};
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
  double standard = 0;  // the value when it is not given
  double least = 0, most = 1;
  std::string meaning;
  bool whole = false;  // integers only
};

/// Every known option, given or not.
using NumberValues = std::map<std::string, double>;

struct NamedOptions {
  std::string name;  // what stands before the '?'
  NumberValues values;
};

/// invalid_argument, naming the valid options, for an unknown or repeated key, a value that is no
/// number, or one out of range.
Result<NamedOptions> parse_options(const std::string& text, const std::vector<NumberOption>& known);

/// "rounds=8 (1 to 100): edits asked for; ..."
std::string describe_options(const std::vector<NumberOption>& known);

}  // namespace assay::agents
