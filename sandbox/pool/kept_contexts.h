// KeptContexts limits the number of GPU contexts that LauncherPool keeps for runs.
//
//   KeptContexts limit;
//   int most = limit.most(memory_bytes, now_ns);  // so many take half of the device's memory
//   limit.note_shortage(now_ns);                  // a job lacked memory
//   most = limit.most(memory_bytes, now_ns);      // for ten minutes, they take a quarter of it
//
// A context takes a tenth of a second to create, and the driver of a machine creates one after the
// other. So it should be kept as long as its run may need it, unless other jobs need the memory. If
// all of these contexts used a stack, they would take twice as much, and a shortage would follow.
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace assay::sandbox {

class KeptContexts {
 public:
  /// The part of the device's memory that kept contexts may take, and the part for kShortageMs
  /// after a shortage. A shortage ends all of them, so without the second part many runs and a job
  /// with much data would take the memory from each other again and again.
  static constexpr double kPart = 0.5, kPartAfterShortage = 0.25;
  static constexpr std::int64_t kShortageMs = 600'000;
  /// The memory of one context on an H200. A context whose kernels use a stack takes 264 MiB more.
  static constexpr std::int64_t kContextBytes = 260LL << 20;
  /// The number of contexts that are kept even if the device has less memory.
  static constexpr int kFewest = 4;

  /// A job lacked memory of the device.
  void note_shortage(std::int64_t now_ns) { shortage_ns_ = now_ns; }
  int most(std::int64_t memory_bytes, std::int64_t now_ns) const {
    const bool is_short = shortage_ns_ && now_ns - *shortage_ns_ < kShortageMs * kNsPerMs;
    const double bytes =
        static_cast<double>(memory_bytes) * (is_short ? kPartAfterShortage : kPart);
    return std::max(kFewest, static_cast<int>(bytes / static_cast<double>(kContextBytes)));
  }

 private:
  std::optional<std::int64_t> shortage_ns_;  // the last one
};

}  // namespace assay::sandbox
