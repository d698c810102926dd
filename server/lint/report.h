// LintReport is the result of `assay operators lint` for one operator. It can be written as text
// for people, and as JSON for the generated tables and for the cache. LintCache stores the reports
// of sound operators. The key of a report is a hash of everything that the report depends on: the
// operator, Assay itself, its Python packages and the device. So if none of these has changed, the
// operator is not linted again.
//
//   const LintCache cache(state / "lint", content_of_judges(paths, device->info()));
//   if (std::optional<LintReport> known = cache.find(op)) return *known;
//   cache.keep(op, report);
//
// Thread-safe. Two processes may share one folder. A file that cannot be read or written is
// ignored: the cache never causes a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/device/lint.h"
#include "sandbox/job/device.h"
#include "server/app/workspace.h"

namespace assay::server {

struct LintReport {
  std::string name;
  std::size_t checks = 0;  // the number of checks that do not run the oracle, over all linted cases
  std::size_t mutants = 0;
  std::size_t killed = 0;
  std::vector<std::string> failures;  // one line per failure
  /// The reason why the checks could not be finished, for example a lack of memory. It says nothing
  /// about the operator. Empty if they were finished.
  std::string undecided;
  // The result of the oracle's job: "pass", "compiles; ...", "fail". If the operator has no oracle,
  // "none: Perf compares with PyTorch eager".
  std::string oracle;
  /// Says which cases were recorded as launch plans. Empty if the lint ran on a GPU, because
  /// recording is then not checked separately.
  std::string recorded;
  nlohmann::json verdict;  // the verdict of the oracle's job, assay.verdict/2
  // The processor time of the interpreter for the oracle on all cases that it runs. 0 if no case
  // was interpreted.
  std::int64_t interpreter_ms = 0;
  double checks_s = 0;  // the wall time of the checks, including waits for other operators
  double oracle_s = 0;  // the wall time of the oracle's job and of the recording

  bool is_sound() const { return failures.empty() && undecided.empty(); }
};

// The maximum number of checks that failure_lines() names in one line.
inline constexpr std::size_t kMostNamedChecks = 8;

/// Returns short lines for people about the failed checks of an operator. If a check fails in
/// several cases, one line gives the detail of the first case. If mutants pass, there are two
/// lines: the first mutant with its detail, and the names of the other mutants. The details of the
/// other mutants are omitted, because these mutants usually pass for the same reason.
std::vector<std::string> failure_lines(const std::string& operator_name,
                                       const std::vector<sandbox::LintCheck>& checks);

/// Returns a line for each failure, a line with the reason if the checks could not be finished, and
/// a last line with the result. Every line ends with a newline.
std::string lint_text(const LintReport& report);

nlohmann::json lint_to_json(const LintReport& report);
/// Parses a report's JSON form. Errors: corrupt if a member is missing or has a wrong type, and the
/// message names the member.
Result<LintReport> lint_from_json(const nlohmann::json& document);

/// Returns a hash of everything that a report depends on, except the operator: Assay's programs,
/// the harness, the interpreter's packages, and the device.
std::string content_of_judges(const Paths& paths, const sandbox::DeviceInfo& device);

class LintCache {
 public:
  /// If `fresh` is true, find() returns nothing, so that every operator is linted. keep() still
  /// stores the reports.
  LintCache(std::filesystem::path folder, std::string judges, bool fresh = false)
      : folder_(std::move(folder)), judges_(std::move(judges)), fresh_(fresh) {}

  std::optional<LintReport> find(const operators::Operator& op) const;
  /// Stores the report if the operator is sound. A report with a failure is not stored, because the
  /// machine may have caused the failure.
  void keep(const operators::Operator& op, const LintReport& report) const;

 private:
  std::filesystem::path path_of(const operators::Operator& op) const;

  const std::filesystem::path folder_;
  const std::string judges_;
  const bool fresh_;
};

}  // namespace assay::server
