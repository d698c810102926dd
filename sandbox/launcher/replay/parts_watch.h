// PartsWatch measures where the time of a launch goes.
//
//   PartsWatch watch(clock, shared);
//   allocate();
//   watch.end(LaunchPart::allocate);
//   load();
//   watch.end(LaunchPart::load);
//   const double ms = watch.parts()[LaunchPart::load];
//
// Not thread-safe. The clock and the buffers must outlive the watch.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "sandbox/launcher/memory/shared_buffers.h"
#include "sandbox/wire/launch_parts.h"

namespace assay::sandbox {

/// The time that the driver needs to map, hide and show the shared memory counts as the part `map`
/// only.
class PartsWatch {
 public:
  PartsWatch(const Clock& clock, const SharedBuffers& shared)
      : clock_(clock),
        shared_(shared),
        since_ns_(clock.monotonic_ns()),
        mapped_ns_(shared.mapping_ns()) {}

  /// Ends a part that began when the last part ended.
  void end(LaunchPart part) {
    const std::int64_t now_ns = clock_.monotonic_ns(), mapped_ns = shared_.mapping_ns();
    const std::int64_t mapping_ns = mapped_ns - mapped_ns_;
    parts_[LaunchPart::map] += static_cast<double>(mapping_ns) / kNsPerMs;
    parts_[part] += static_cast<double>(now_ns - since_ns_ - mapping_ns) / kNsPerMs;
    since_ns_ = now_ns;
    mapped_ns_ = mapped_ns;
  }
  /// Leaves out the time since the last part ended.
  void skip() {
    since_ns_ = clock_.monotonic_ns();
    mapped_ns_ = shared_.mapping_ns();
  }
  const LaunchParts& parts() const { return parts_; }

 private:
  const Clock& clock_;
  const SharedBuffers& shared_;
  LaunchParts parts_;
  std::int64_t since_ns_, mapped_ns_;
};

}  // namespace assay::sandbox
