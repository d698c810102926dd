// Reports of sound operators, kept by content: an operator that has not changed is not linted again
// by the same Assay on the same device.
//
//   LintCache cache(state / "lint", content_of_judges(paths, device->info()));
//   if (std::optional<LintReport> known = cache.find(op)) ...
//   cache.keep(op, report);
//
// Thread-safe; so are two processes with one folder. What cannot be read or written is as if it
// were not there: a cache is never a reason to fail.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "operators/catalog.h"
#include "sandbox/job/device.h"
#include "server/app/paths.h"
#include "server/lint/report.h"

namespace assay::server {

/// Changes with everything that a report hangs on besides the operator: this binary, the harness,
/// the interpreter's packages, the device.
std::string content_of_judges(const Paths& paths, const sandbox::DeviceInfo& device);

class LintCache {
 public:
  /// `fresh`: finds nothing, and keeps all the same.
  LintCache(std::filesystem::path folder, std::string judges, bool fresh = false)
      : folder_(std::move(folder)), judges_(std::move(judges)), fresh_(fresh) {}

  std::optional<LintReport> find(const operators::Operator& op) const;
  /// Only of sound ones: a failure may have been the machine's.
  void keep(const operators::Operator& op, const LintReport& report) const;

 private:
  std::filesystem::path path_of(const operators::Operator& op) const;

  const std::filesystem::path folder_;
  const std::string judges_;
  const bool fresh_;
};

}  // namespace assay::server
