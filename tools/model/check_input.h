// Parses one input of a check, such as "x=f32[{n},64]" or "beta=1.5". The command `check` and the
// tool `check` share the parser. Pure functions, thread-safe.
//
//   Result<sandbox::CheckArgument> x = parse_check_input("x=f32[{n}]");
//   Result<sandbox::CheckArgument> idx = parse_check_input("idx=i64[{m}] range(0,{n})");
//   Result<sandbox::CheckArgument> beta = parse_check_input("beta=1.5");
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::tools {

/// Says in one line which inputs are valid. Help texts and error messages show it.
inline constexpr const char* kCheckInputForms =
    "x=f32[{n},64], idx=i64[{m}] range(0,{n}), beta=1.5, k=3, flag=true or size={n}";

/// Parses an input. Error: invalid_argument; the message names the input, what is wrong with it,
/// and the valid forms.
Result<sandbox::CheckArgument> parse_check_input(const std::string& text);

/// Reads "n=1000,100003" into `axes`. Error: invalid_argument; the message names the valid form.
Status read_check_axis(const std::string& text,
                       std::map<std::string, std::vector<std::int64_t>>& axes);

/// Returns true if the text can name a Python function or an input.
bool is_python_name(const std::string& text);

}  // namespace assay::tools
