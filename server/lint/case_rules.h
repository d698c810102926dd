// Rules for the cases of an operator that need no process: how many public cases Triton's
// interpreter runs, and that no two cases are equal. LintRun also uses the limit for their time.
//
//   for (const std::string& line : case_failures(op)) report.failures.push_back(line);
//
// Loading an operator does not check these rules, so an unfinished operator can be tried out. The
// functions keep no state and are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operators/catalog.h"

namespace assay::server {

/// The least number of public cases with `interpreter = true`. An agent without a GPU sees only
/// these cases, and one case cannot show a wrong edge, a wrong special value and a wrong dtype.
inline constexpr std::size_t kMinPublicInterpreterCases = 4;

/// The processor time that the interpreter may take for the oracle on all cases with
/// `interpreter = true` together. Lint uses processor time, because wall time depends even more on
/// what else the machine does. On an idle machine these cases should take 2 s. Processes that share
/// a core and its caches double this time, so lint allows twice as much.
inline constexpr std::int64_t kInterpreterCasesMs = 4'000;

/// The number of times that lint measures this processor time before it says that the cases are too
/// slow.
inline constexpr int kInterpreterMeasurements = 3;

/// Returns one line for each rule that the cases break. Each line begins with the operator's name
/// and names the place in spec.toml. Imported operators have no failures, because their cases are
/// those of another benchmark.
std::vector<std::string> case_failures(const operators::Operator& op);

/// Returns the least of several measurements in ms, because other processes can only add to the
/// processor time of a job. `first` is the first measurement. Calls `again` only while all
/// measurements are above kInterpreterCasesMs, and at most kInterpreterMeasurements - 1 times.
/// `again` returns nothing if its measurement failed.
std::int64_t least_interpreter_ms(std::int64_t first,
                                  const std::function<std::optional<std::int64_t>()>& again);

/// Returns a line if `ms` is above the limit for the cases of the operator `name`, and otherwise an
/// empty text.
std::string interpreter_time_failure(const std::string& name, std::int64_t ms);

}  // namespace assay::server
