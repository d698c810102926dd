// LintRun lints several operators simultaneously. For each operator, a judge checks the reference,
// the mutants and the cost model. Then the oracle is graded in a job like a submission. Without a
// GPU, every case is also recorded as a launch plan. On a GPU, the oracles are graded after the
// checks of all operators, because one case of each oracle is timed and nothing else may use the
// GPU at that time. A LintRun belongs to one thread.
//
//   LintRun run(device, config, cache, seed);
//   std::vector<LintReport> reports =
//       run.lint(operators, 4, [](const LintReport& one, bool) { std::cout << lint_text(one); });
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "operators/catalog.h"
#include "sandbox/device/lint.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"
#include "server/lint/report.h"

namespace assay::server {

class LintRun {
 public:
  /// A function that is called after each operator, in the order in which operators finish. Two
  /// calls never overlap. `known` is true if the report is from the cache.
  using Done = std::function<void(const LintReport& report, bool known)>;

  /// `seed` is the seed of the mutants' inputs.
  LintRun(sandbox::Device& device, const sandbox::SandboxConfig& config, const LintCache& cache,
          std::uint32_t seed)
      : device_(device), config_(config), cache_(cache), seed_(seed) {}

  /// Returns the reports in the order of `chosen`. `jobs` is the number of operators that are
  /// linted simultaneously. Each such operator needs a judge process with about 400 MiB of memory.
  /// An operator may stay undecided because the others left too little memory. It is then linted
  /// once more, alone.
  std::vector<LintReport> lint(const std::vector<const operators::Operator*>& chosen,
                               std::size_t jobs, const Done& done);

 private:
  void for_each(const std::vector<std::size_t>& indices, std::size_t jobs,
                const std::function<void(std::size_t, sandbox::Linter&)>& step) const;
  void lint_all(const std::vector<const operators::Operator*>& chosen,
                const std::vector<std::size_t>& indices, std::size_t jobs,
                std::vector<LintReport>& reports, const std::function<void(std::size_t)>& finish);
  bool check_operator(const operators::Operator& op, sandbox::Linter& linter,
                      LintReport& report) const;
  void judge_oracle(const operators::Operator& op, LintReport& report);
  bool check_oracle(const operators::Operator& op, LintReport& report);
  void check_interpreter_time(const operators::Operator& op, const sandbox::Verdict& verdict,
                              LintReport& report);
  sandbox::Verdict grade_oracle(const operators::Operator& op);
  sandbox::Verdict record_oracle(const operators::Operator& op);
  void check_recording(const operators::Operator& op, const sandbox::Verdict& recorded,
                       LintReport& report) const;

  sandbox::Device& device_;
  const sandbox::SandboxConfig& config_;
  const LintCache& cache_;
  const std::uint32_t seed_;
};

}  // namespace assay::server
