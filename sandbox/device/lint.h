// Linter checks an operator without a submission. A judge process checks the operator's reference,
// its mutants (implementations that are wrong on purpose) and its cost model.
//
//   Linter linter(config, "cpu");
//   Result<std::vector<LintCheck>> checks = linter.lint(op_directory, cases, 1);  // seed 1
//
// All operators of a suite are checked by the same judge process; that of an imported suite is in a
// jail. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/gpu/suite_judges.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

class Linter {
 public:
  Linter(const SandboxConfig& config, const std::string& device)
      : judges_(config, spawner_, {.device = device}) {}

  Result<std::vector<LintCheck>> lint(const std::string& operator_dir,
                                      const std::vector<CaseRequest>& cases, std::uint32_t seed) {
    return judges_.of(operator_dir)
        .judge(0)
        .lint(operator_dir, cases, seed, Deadline::after_ms(kLintWallMs));
  }

 private:
  static constexpr std::int64_t kLintWallMs = 300'000;
  Spawner spawner_;
  SuiteJudges judges_;
};

}  // namespace assay::sandbox
