// What `assay operators lint` found about one operator: for a person a line for each failure and
// one in all; as JSON for the cache and for tables.
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
  std::vector<std::string> failures;  // one line each; none: the operator is sound
  std::string oracle;                 // how its job ended: "pass", "compiles; ...", "fail"
  std::string recorded;               // without a GPU: which cases became launch plans; else empty
  nlohmann::json verdict;             // the oracle's, assay.verdict/2
  double checks_s = 0,
         oracle_s =
             0;  // wall clock, waiting for others included; the recording belongs to the oracle's

  bool is_sound() const { return failures.empty(); }
};

/// One line for each failure and one in all, each with its end of line.
std::string lint_text(const LintReport& report);

nlohmann::json lint_to_json(const LintReport& report);
/// `corrupt` names the field that is missing or of another type.
Result<LintReport> lint_from_json(const nlohmann::json& document);

}  // namespace assay::server
