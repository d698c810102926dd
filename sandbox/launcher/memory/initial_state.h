// InitialState: the contents of a plan's buffers before its first run. It restores them between
// timed runs, because device code may write any buffer.
//
//   InitialState initial(gpu);
//   initial.add(buffer, n, source);      // an input or a constant; source(to) writes its bytes
//   initial.add_poisoned(scratch, n);    // every other buffer
//   initial.write();                     // before the first run
//   initial.keep_on_device();            // once, if the plan will be timed
//   initial.restore_async();             // before each further run: device to device
//   initial.stage(ours);                 // the sources hold new inputs: copies them, masked
//   initial.restore_async();             // restores the old contents still
//   initial.swap_inputs();               // restores the new contents from the next call on
//
// New inputs are staged in device memory for a reason. A source is mapped while it is read, and
// unmapping memory on a GPU makes the next kernel some 300 ns slower, because its instructions are
// fetched again. The first run on new inputs must not differ from later runs by that. The
// destructor frees the copies. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/memory/trusted_kernels.h"

namespace assay::sandbox {

class InitialState {
 public:
  /// Writes a buffer's first contents to device memory.
  using Source = std::function<LaunchStatus(DevicePtr to)>;

  InitialState(GpuDriver& gpu, std::uint8_t poison) : gpu_(gpu), poison_(poison) {}
  InitialState(const InitialState&) = delete;
  InitialState& operator=(const InitialState&) = delete;
  ~InitialState();

  void add(DevicePtr buffer, std::uint64_t bytes, Source source) {
    filled_.push_back({buffer, bytes, std::move(source)});
  }
  void add_poisoned(DevicePtr buffer, std::uint64_t bytes) { poisoned_.push_back({buffer, bytes}); }

  LaunchStatus write();
  /// Copies each content to device memory of its own. It copies from the source, because the
  /// buffers may have been written. A content without room on the device is restored from its
  /// source.
  LaunchStatus keep_on_device();
  /// Copies each content's source again, masked with a new key, beside the first copy. `ours` is
  /// null on a device without our kernels; then swap_inputs() reads the sources.
  LaunchStatus stage(TrustedKernels* ours);
  /// Makes the staged contents the ones that are restored. Returns true if no kernel can have read
  /// them and reading them will not slow the first run; false if there was no room to stage them.
  LaunchResult<bool> swap_inputs();
  LaunchStatus restore_async();

 private:
  struct Filled {
    DevicePtr buffer;
    std::uint64_t bytes;
    Source source;
    DevicePtr copy = 0, staged = 0;  // 0: none
  };
  struct Poisoned {
    DevicePtr buffer;
    std::uint64_t bytes;
  };
  LaunchStatus poison_async();
  /// Allocates room for contents, in whole words of a mask. Returns 0 without room.
  LaunchResult<DevicePtr> room_for(std::uint64_t bytes);

  GpuDriver& gpu_;
  std::uint8_t poison_;
  std::vector<Filled> filled_;
  std::vector<Poisoned> poisoned_;
  TrustedKernels* ours_ = nullptr;
  MaskKey key_{};
};

}  // namespace assay::sandbox
