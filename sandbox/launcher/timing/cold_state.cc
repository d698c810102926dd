#include "sandbox/launcher/timing/cold_state.h"

#include <algorithm>
#include <cstdint>

namespace assay::sandbox {
namespace {

constexpr std::uint64_t kFlushPerL2 = 2;  // bytes written to flush, in multiples of the L2's size
constexpr std::uint64_t kMinFlushBytes = 1
                                         << 20;  // where a device does not say how large its L2 is

}  // namespace

ColdState::ColdState(GpuDriver& gpu)
    : gpu_(gpu),
      bytes_(std::max(kMinFlushBytes,
                      kFlushPerL2 * static_cast<std::uint64_t>(gpu.facts().l2_bytes))) {}

ColdState::~ColdState() {
  if (memory_ != 0) gpu_.free(memory_);
}

LaunchStatus ColdState::open() {
  LaunchResult<DevicePtr> memory = gpu_.allocate(bytes_);
  if (!memory)
    return launch_fail(memory.error().kind,
                       "no room to flush the L2 for timing: " + memory.error().message);
  memory_ = *memory;
  return {};
}

LaunchStatus ColdState::flush() {
  if (LaunchStatus s = gpu_.fill_async(memory_, bytes_, 1, 0); !s) return s;
  return gpu_.synchronize();
}

LaunchStatus ColdState::make(const TimedWork& work) {
  if (LaunchStatus s = work.restore(); !s) return s;
  if (work.scrub) {
    if (LaunchStatus s = work.scrub(); !s) return s;
  }
  if (LaunchStatus s = gpu_.reset_persisting_l2(); !s) return s;
  return flush();
}

}  // namespace assay::sandbox
