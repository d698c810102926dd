// Layers: each mechanism of the jail reports whether it is active, and if not, why. No layer is
// left out silently.
//
//   LayerList list(strict);
//   list.apply("seccomp", load_filter);   // if strict, a failure makes list.status() an error
//
// Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

struct LayerReport {
  std::string name;
  bool active = false;
  std::string detail;  // why not
};

class LayerList {
 public:
  explicit LayerList(bool strict) : strict_(strict) {}

  /// Runs the mechanism, unless a mutation leaves it out (mutation.h), and notes the result.
  /// Returns true if the layer is active.
  bool apply(const std::string& name, const std::function<Status()>& mechanism);
  /// Notes the result of a mechanism. Returns true if the layer is active.
  bool add(const std::string& name, const Status& outcome);
  /// Notes a mechanism that cannot be tried, and the reason.
  void missing(const std::string& name, const std::string& why) {
    add(name, fail(ErrorCode::unavailable, why));
  }

  /// An error if the list is strict and a layer is missing.
  Status status() const;
  const std::vector<LayerReport>& layers() const { return layers_; }

 private:
  bool strict_;
  std::vector<LayerReport> layers_;
};

/// `[{"name":"seccomp","active":true,"detail":""}]`, as it travels to the zygote.
std::string layers_json(const std::vector<LayerReport>& layers);

}  // namespace assay::sandbox
