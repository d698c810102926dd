// Reads words of a command line that `check` and `operators new` share: FILE:FUNCTION, and axes
// such as "--n 1000,100003". Pure functions, thread-safe.
//
//   Result<FunctionInFile> kernel = function_in_file("my.py:swish", "the kernel");
//   std::map<std::string, std::vector<std::int64_t>> axes;
//   Status read = read_short_axes({"--n", "1000,100003"}, axes);  // {"n": {1000, 100003}}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

struct FunctionInFile {
  std::string file, function;
};

/// Reads "my.py:swish". `what` names the word in messages. Error: invalid_argument.
Result<FunctionInFile> function_in_file(const std::string& text, const std::string& what);

/// Turns the options that CLI11 does not know, such as "--n 1000,100003" and "--n=1000", into
/// axes. Error: invalid_argument for a word that is no such option.
Status read_short_axes(const std::vector<std::string>& words,
                       std::map<std::string, std::vector<std::int64_t>>& axes);

}  // namespace assay::server
