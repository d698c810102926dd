// LintCache keeps reports of sound operators by content, so that the same Assay on the same device
// does not lint an unchanged operator again.
//
//   LintCache cache(state / "lint", content_of_judges(paths, device->info()));
//   if (std::optional<LintReport> known = cache.find(op)) ...
//   cache.keep(op, report);
//
// Thread-safe, also between two processes with one folder. A file that cannot be read or written is
// ignored: the cache never causes a failure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "operators/catalog.h"
#include "sandbox/job/device.h"
#include "server/app/workspace.h"
#include "server/lint/report.h"

namespace assay::server {

/// Changes with everything besides the operator that a report depends on: this binary, the harness,
/// the interpreter's packages, the device.
std::string content_of_judges(const Paths& paths, const sandbox::DeviceInfo& device);

class LintCache {
 public:
  /// `fresh`: find() finds nothing; keep() works as usual.
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
