// LintReport is the result of `assay operators lint` for one operator: as text for people, as JSON
// for tables and for the cache. LintCache keeps the reports of sound operators by content, so that
// the same Assay on the same device does not lint an unchanged operator again.
//
//   const LintCache cache(state / "lint", content_of_judges(paths, device->info()));
//   if (std::optional<LintReport> known = cache.find(op)) return *known;
//   cache.keep(op, report);
//
// Thread-safe, also between two processes with one folder. A file that cannot be read or written is
// ignored: the cache never causes a failure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/device/lint.h"
#include "sandbox/job/device.h"
#include "server/app/workspace.h"

namespace assay::server {

struct LintReport {
  std::string name;
  std::size_t checks = 0;  // of the operator without its oracle, on all linted cases
  std::size_t mutants = 0;
  std::size_t killed = 0;
  std::vector<std::string> failures;  // one line each; empty: the operator is sound
  std::string oracle;                 // result of the oracle's job: "pass", "compiles; ...", "fail"
  std::string recorded;               // without a GPU: the cases with launch plans; else empty
  nlohmann::json verdict;             // of the oracle's job, assay.verdict/2
  double checks_s = 0;                // wall time of the checks, with waits for other operators
  double oracle_s = 0;                // like checks_s; includes the recording

  bool is_sound() const { return failures.empty(); }
};

// The most checks that failure_lines() names in one line.
inline constexpr std::size_t kMostNamedChecks = 8;

/// Returns the failed checks of an operator, a few lines for a person: a check that fails in
/// several cases is one line with the detail of the first case. Mutants that pass are two lines,
/// the first mutant with its detail and the names of the others, because they pass for the same
/// reason.
std::vector<std::string> failure_lines(const std::string& operator_name,
                                       const std::vector<sandbox::LintCheck>& checks);

/// Returns a line for each failure and a last line with the result. Every line ends with a newline.
std::string lint_text(const LintReport& report);

nlohmann::json lint_to_json(const LintReport& report);
/// Error: corrupt; it names the field that is missing or has another type.
Result<LintReport> lint_from_json(const nlohmann::json& document);

/// Returns a hash of everything that a report depends on besides the operator: this binary, the
/// harness, the interpreter's packages, the device.
std::string content_of_judges(const Paths& paths, const sandbox::DeviceInfo& device);

class LintCache {
 public:
  /// With `fresh`, find() finds nothing and keep() works as usual.
  LintCache(std::filesystem::path folder, std::string judges, bool fresh = false)
      : folder_(std::move(folder)), judges_(std::move(judges)), fresh_(fresh) {}

  std::optional<LintReport> find(const operators::Operator& op) const;
  /// Keeps only reports of sound operators: the machine may have caused a failure.
  void keep(const operators::Operator& op, const LintReport& report) const;

 private:
  std::filesystem::path path_of(const operators::Operator& op) const;

  const std::filesystem::path folder_;
  const std::string judges_;
  const bool fresh_;
};

}  // namespace assay::server
