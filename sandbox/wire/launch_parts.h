// LaunchParts says where the time of a launch went. The launcher measures the parts of each launch,
// and the supervisor adds them up over the launches of a job.
//
//   LaunchParts parts;
//   parts[LaunchPart::map] += 1.5;       // milliseconds
//   const double whole = parts.total();  // 1.5
//   LaunchFigures figures;
//   figures.add(parts);
//
// Plain values. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

namespace assay::sandbox {

enum class LaunchPart {
  wait,      // a launcher with a GPU context is waited for; not part of a launch
  allocate,  // device memory is allocated
  load,      // the plan's binaries are loaded
  map,       // the memory that the judge shares is mapped, hidden and unmapped
  fill,      // inputs are copied, guards are filled, and all other memory is poisoned
  run,       // the kernels run; the samples of a timed launch are part of it
  check,     // guards are read, and inputs are compared with their first contents
  copy,      // outputs are copied to the judge
  free,      // binaries are unloaded, and device memory is freed
  other,     // messages, the plan's checks, and what no other part has
};

inline constexpr std::array<std::string_view, 10> kLaunchPartNames = {
    "wait", "allocate", "load", "map", "fill", "run", "check", "copy", "free", "other"};

constexpr std::string_view to_string(LaunchPart part) {
  return kLaunchPartNames[static_cast<std::size_t>(part)];
}

constexpr std::optional<LaunchPart> launch_part_from(std::string_view name) {
  for (std::size_t i = 0; i < kLaunchPartNames.size(); ++i) {
    if (kLaunchPartNames[i] == name) return static_cast<LaunchPart>(i);
  }
  return std::nullopt;
}

/// The milliseconds of each part.
struct LaunchParts {
  std::array<double, kLaunchPartNames.size()> ms{};

  double& operator[](LaunchPart part) { return ms[static_cast<std::size_t>(part)]; }
  double operator[](LaunchPart part) const { return ms[static_cast<std::size_t>(part)]; }
  double total() const { return std::accumulate(ms.begin(), ms.end(), 0.0); }
};

/// The launches of a job: the time of all parts, and how many of its launchers were new, and how
/// many had performed plans of the run or of oracles before.
struct LaunchFigures {
  std::map<std::string, double> ms = {};
  std::int64_t new_contexts = 0, kept_contexts = 0;

  void add(LaunchPart part, double more_ms) { ms[std::string(to_string(part))] += more_ms; }
  void add(const LaunchParts& parts) {
    for (std::size_t i = 0; i < kLaunchPartNames.size(); ++i) {
      if (parts.ms[i] > 0) add(static_cast<LaunchPart>(i), parts.ms[i]);
    }
  }
  void add(const LaunchFigures& more) {
    for (const auto& [part, more_ms] : more.ms) ms[part] += more_ms;
    new_contexts += more.new_contexts;
    kept_contexts += more.kept_contexts;
  }
};

}  // namespace assay::sandbox
