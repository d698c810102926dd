// Layers: each mechanism of the jail reports whether it is active, and why not. Nothing is downgraded in silence.
//
//   LayerList list(isolation);
//   list.add("seccomp", load_seccomp(filter));       // strict: the first failure makes list.status() an error
//
// Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/device/device.h"
#include "sandbox/job.h"

namespace assay::sandbox {

class LayerList {
 public:
  explicit LayerList(Isolation isolation) : isolation_(isolation) {}

  /// Notes how a mechanism came out. Returns whether it is active.
  bool add(const std::string& name, const Status& outcome);
  /// Notes a mechanism that cannot even be tried, and why.
  void missing(const std::string& name, const std::string& why) { add(name, fail(ErrorCode::unavailable, why)); }

  /// An error under strict isolation once a layer is missing.
  Status status() const;
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  Isolation isolation_;
  std::vector<Layer> layers_;
};

/// `[{"name":"seccomp","active":true,"detail":""}]`, as it travels to the zygote.
std::string layers_json(const std::vector<Layer>& layers);

}  // namespace assay::sandbox
