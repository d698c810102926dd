// Layers: each mechanism of the jail reports whether it is active, and if not, why. No layer is
// left out silently.
//
//   LayerList list(strict);
//   list.apply("no_new_privileges", forbid_new_privileges);
//   if (Status complete = list.status(); !complete) return complete;  // only if strict
//
// A mutation leaves out one layer on purpose, so that the escape suite can show which attempt then
// succeeds (docs/reference/generated/escapes.md). This needs a build with ASSAY_JAIL_MUTATIONS=ON.
// A layer that is left out reports itself as missing.
//
//   Status left = leave_out("seccomp,no_dumps");
//
// A LayerList is not thread-safe. Call leave_out() once at the start of a process, before its first
// thread; the functions that read what it set are thread-safe. The supervisor gives the list to
// assay-launcher and assay-jail, and assay-jail gives it to the zygote.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

struct LayerReport {
  std::string name;
  bool active = false;
  std::string detail;  // why it is not active
};

class LayerList {
 public:
  explicit LayerList(bool strict) : strict_(strict) {}

  /// Runs the mechanism, unless a mutation leaves it out, and notes the result. Returns true if the
  /// layer is active.
  bool apply(const std::string& name, const std::function<Status()>& mechanism);
  /// Notes the result of a mechanism. Returns true if the layer is active.
  bool add(const std::string& name, const Status& outcome);
  /// Notes a mechanism that cannot be tried, and the reason.
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

/// Returns the form in which the layers travel to the zygote:
/// `[{"name":"seccomp","active":true,"detail":""}]`.
std::string layers_json(const std::vector<LayerReport>& layers);

/// The environment variable by which assay-jail gives the list to the zygote.
inline constexpr const char* kLeftOutVariable = "ASSAY_LEFT_OUT_LAYERS";

/// Tells whether this build can leave out layers.
bool mutations_possible();
/// Leaves out the layers with these names (docs/explanation/sandbox.md), separated by commas.
/// Errors: unavailable in a build without mutations, invalid_argument for an unknown name.
Status leave_out(const std::string& names);
/// Returns the argument of leave_out(), or an empty string.
const std::string& left_out_layers();
/// Returns an error if this layer is left out.
Status check_not_left_out(std::string_view layer);

}  // namespace assay::sandbox
