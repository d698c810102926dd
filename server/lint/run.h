// Lints operators, several at once: each one's own checks by a judge, then its oracle as a real
// job, then, without a GPU, a launch plan of every case. On a GPU the oracles come after all of the
// checks: one case of each is timed, and nothing else may use the GPU then.
//
//   LintRun run(device, config, cache, seed);
//   std::vector<LintReport> reports = run.lint(operators, jobs, [](const LintReport& one, bool
//   known) { print(one); });
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
#include "server/lint/cache.h"
#include "server/lint/report.h"

namespace assay::server {

class LintRun {
 public:
  /// `done` is called for one operator at a time, in the order in which they end; `known` says that
  /// the report is from the cache.
  using Done = std::function<void(const LintReport& report, bool known)>;

  /// `seed`: of the inputs on which mutants are tried.
  LintRun(sandbox::Device& device, const sandbox::SandboxConfig& config, const LintCache& cache,
          std::uint32_t seed)
      : device_(device), config_(config), cache_(cache), seed_(seed) {}

  /// Reports in the order of `chosen`. `jobs`: operators at once; each takes a judge process, about
  /// 400 MiB.
  std::vector<LintReport> lint(const std::vector<const operators::Operator*>& chosen,
                               std::size_t jobs, const Done& done);

 private:
  void for_each(const std::vector<std::size_t>& indices, std::size_t jobs,
                const std::function<void(std::size_t, sandbox::Linter&)>& step) const;
  void check_operator(const operators::Operator& op, sandbox::Linter& linter,
                      LintReport& report) const;
  bool check_oracle(const operators::Operator& op, LintReport& report);
  void check_recording(const operators::Operator& op, LintReport& report);

  sandbox::Device& device_;
  const sandbox::SandboxConfig& config_;
  const LintCache& cache_;
  const std::uint32_t seed_;
};

}  // namespace assay::server
