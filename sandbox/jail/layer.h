// Records the isolation layers of the jail. A layer is one mechanism, such as a namespace. For each
// layer, the list records whether the layer is active, and the reason if it is not. So every
// missing layer is noticed.
//
//   LayerList list(strict);
//   list.apply("no_new_privileges", forbid_new_privileges);
//   if (Status complete = list.status(); !complete) return complete;  // an error only if strict
//
// A mutation leaves out layers on purpose. With a mutation, the escape suite can show which
// attempts to break out succeed without a layer (docs/reference/generated/escapes.md). Mutations
// need a build with ASSAY_JAIL_MUTATIONS=ON. A layer that a mutation leaves out is reported as
// missing.
//
//   Status left = leave_out("seccomp,no_dumps");
//
// A LayerList is not thread-safe. Call leave_out() once at the start of a process, before the first
// thread starts. Functions that read the left-out layers are thread-safe. The supervisor passes the
// left-out layers to assay-launcher and assay-jail. assay-jail passes them to the zygote.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

struct LayerReport {
  std::string name;
  bool active = false;
  std::string detail;  // why the layer is not active
};

class LayerList {
 public:
  explicit LayerList(bool strict) : strict_(strict) {}

  /// Runs the mechanism and records the result. If a mutation leaves the layer out, does not run
  /// the mechanism, and records that the layer is missing. Returns true if the layer is active.
  bool apply(const std::string& name, const std::function<Status()>& mechanism);
  /// Records the result of a mechanism that has already run. Returns true if the layer is active.
  bool add(const std::string& name, const Status& outcome);
  /// Records a layer of another list.
  void add(LayerReport layer) { layers_.push_back(std::move(layer)); }
  /// Records that the layer's mechanism cannot be tried, and the reason `why`.
  void missing(const std::string& name, const std::string& why) {
    add(name, fail(ErrorCode::unavailable, why));
  }

  /// Returns an error if the list is strict and a layer is missing.
  Status status() const;
  const std::vector<LayerReport>& layers() const { return layers_; }

 private:
  bool strict_;
  std::vector<LayerReport> layers_;
};

/// Returns the layers of two jails as those of one sandbox. A layer that both jails name is active
/// only if it is active in both.
std::vector<LayerReport> layers_of_both(std::vector<LayerReport> one,
                                        const std::vector<LayerReport>& other);

/// Returns the layers as JSON, in the form in which the zygote receives them:
/// `[{"name":"seccomp","active":true,"detail":""}]`.
std::string layers_json(const std::vector<LayerReport>& layers);

/// The environment variable in which assay-jail passes the left-out layers to the zygote.
inline constexpr const char* kLeftOutVariable = "ASSAY_LEFT_OUT_LAYERS";

/// Returns true if this build can leave out layers.
bool mutations_possible();
/// Leaves out the layers with these names (docs/explanation/sandbox.md). The names are separated by
/// commas. Errors: unavailable in a build without mutations; invalid_argument if a name is unknown.
Status leave_out(const std::string& names);
/// Returns the argument of leave_out(). Returns an empty string if leave_out() was not called.
const std::string& left_out_layers();
/// Returns an error if a mutation leaves this layer out.
Status check_not_left_out(std::string_view layer);

}  // namespace assay::sandbox
