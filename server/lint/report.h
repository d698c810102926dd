// LintReport is the result of `assay operators lint` for one operator. As text it has a line for
// each failure and a last line with the result; as JSON it is for the cache and for tables.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

struct LintReport {
  std::string name;
  std::size_t checks = 0;  // of the operator itself, on all linted cases
  std::size_t mutants = 0;
  std::size_t killed = 0;
  std::vector<std::string> failures;  // one line each; empty: the operator is sound
  std::string oracle;                 // result of the oracle's job: "pass", "compiles; ...", "fail"
  std::string recorded;               // without a GPU: the cases with launch plans; else empty
  nlohmann::json verdict;             // of the oracle's job, assay.verdict/2
  double checks_s = 0;                // wall clock, with waits for other operators
  double oracle_s = 0;                // like checks_s; includes the recording

  bool is_sound() const { return failures.empty(); }
};

/// A line for each failure and a last line with the result; every line ends with a newline.
std::string lint_text(const LintReport& report);

nlohmann::json lint_to_json(const LintReport& report);
/// Error: `corrupt`, naming the field that is missing or has another type.
Result<LintReport> lint_from_json(const nlohmann::json& document);

}  // namespace assay::server
