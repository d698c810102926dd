#include "sandbox/jail/layer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

namespace assay::sandbox {
namespace {

// The build defines the macro ASSAY_JAIL_MUTATIONS only for this file. Other files call
// mutations_possible().
#ifdef ASSAY_JAIL_MUTATIONS
constexpr bool kPossible = true;
#else
constexpr bool kPossible = false;
#endif

constexpr std::array<std::string_view, 50> kLayers = {
    "user_namespace",
    "network_namespace",
    "ipc_namespace",
    "uts_namespace",
    "zygote_pid_namespace",
    "mount_namespace",
    "root_filesystem",
    "proc",
    "descriptors",
    "session",
    "parent_death",
    "cgroup_memory",
    "cgroup_pids",
    "cgroup_cpu",
    "pid_namespace",
    "job_descriptors",
    "job_session",
    "job_ipc_namespace",
    "job_network_namespace",
    "job_mount_namespace",
    "job_tmp",
    "job_shm",
    "job_proc",
    "job_proc_facts",
    "job_limits",
    "job_parent_death",
    "capability_bounds",
    "slot_user",
    "capabilities",
    "no_dumps",
    "no_new_privileges",
    "landlock",
    "seccomp",
    "launch_descriptors",
    "launch_session",
    "launch_user_namespace",
    "launch_network_namespace",
    "launch_ipc_namespace",
    "launch_uts_namespace",
    "launch_mount_namespace",
    "launch_root_filesystem",
    "launch_limits",
    "launch_capability_bounds",
    "launch_user",
    "launch_capabilities",
    "launch_no_dumps",
    "launch_parent_death",
    "launch_no_new_privileges",
    "launch_landlock",
    "launch_seccomp",
};

std::string& left_out() {
  static std::string names;
  return names;
}

bool contains(const std::string& names, std::string_view wanted) {
  std::istringstream parts(names);
  for (std::string name; std::getline(parts, name, ',');) {
    if (name == wanted) return true;
  }
  return false;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

bool LayerList::apply(const std::string& name, const std::function<Status()>& mechanism) {
  if (Status wanted = check_not_left_out(name); !wanted) return add(name, wanted);
  return add(name, mechanism());
}

bool LayerList::add(const std::string& name, const Status& outcome) {
  layers_.push_back({name, outcome.has_value(), outcome ? std::string() : outcome.error().message});
  return outcome.has_value();
}

Status LayerList::status() const {
  if (!strict_) return {};
  for (const LayerReport& layer : layers_) {
    if (!layer.active)
      return fail(ErrorCode::unavailable,
                  "strict isolation needs the layer " + layer.name + ": " + layer.detail);
  }
  return {};
}

std::vector<LayerReport> layers_of_both(std::vector<LayerReport> one,
                                        const std::vector<LayerReport>& other) {
  for (const LayerReport& layer : other) {
    const auto same = std::find_if(
        one.begin(), one.end(), [&](const LayerReport& known) { return known.name == layer.name; });
    if (same == one.end())
      one.push_back(layer);
    else if (same->active)
      *same = layer;
  }
  return one;
}

std::string layers_json(const std::vector<LayerReport>& layers) {
  std::string out = "[";
  for (const LayerReport& layer : layers) {
    if (out.size() > 1) out += ',';
    out += "{\"name\":" + quoted(layer.name) + ",\"active\":" + (layer.active ? "true" : "false") +
           ",\"detail\":" + quoted(layer.detail) + "}";
  }
  return out + "]";
}

bool mutations_possible() { return kPossible; }

Status leave_out(const std::string& names) {
  if (!kPossible)
    return fail(ErrorCode::unavailable,
                "layers can only be left out in a build with ASSAY_JAIL_MUTATIONS=ON");
  std::istringstream parts(names);
  for (std::string name; std::getline(parts, name, ',');) {
    if (std::find(kLayers.begin(), kLayers.end(), name) != kLayers.end()) continue;
    std::string valid;
    for (const std::string_view layer : kLayers)
      valid += (valid.empty() ? "" : ", ") + std::string(layer);
    return fail(ErrorCode::invalid_argument, "unknown layer '" + name + "'; valid: " + valid);
  }
  left_out() = names;
  return {};
}

const std::string& left_out_layers() { return left_out(); }

Status check_not_left_out(std::string_view layer) {
  if (kPossible && contains(left_out(), layer))
    return fail(ErrorCode::unavailable, "left out for a mutation run");
  return {};
}

}  // namespace assay::sandbox
