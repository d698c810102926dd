// InitialState: what a plan's buffers held before it ran, and how they get it back between timed
// runs: device code may write any of them.
//
//   Pristine pristine(gpu);
//   pristine.add(buffer, n, source);      // an input or a constant; source(to) writes its bytes
//   pristine.add_poisoned(scratch, n);    // everything else
//   pristine.write();                     // before the first run
//   pristine.keep_on_device();            // once, when the plan is going to be timed
//   pristine.restore_async();             // before each further run: device to device
//   pristine.stage(ours);                 // the sources have changed: what they hold now waits,
//   masked pristine.restore_async();             // still the old contents pristine.swap_inputs();
//   // the new ones from now on
//
// Staged, because a source is memory that is mapped to be read, and whatever is unmapped on a GPU
// costs the next kernel some 300 ns (its instructions are fetched anew): the first run on new
// inputs must not differ from later ones by that. Frees its copies at its end. Not thread-safe.
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
  /// Copies each content, from its source since the buffers may have been written by now, to device
  /// memory of its own. A content that the device has no room for is restored from its source
  /// instead.
  LaunchStatus keep_on_device();
  /// Copies each content's source once more, masked with a new key, beside the copy. `ours`: null
  /// where there is no such kernel, then swap_inputs() reads the sources.
  LaunchStatus stage(TrustedKernels* ours);
  /// Whether nothing can have run on the new contents until now, nor will the first run bear what
  /// reading them costs: false where there was no room.
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
  /// Room for contents, in whole words of a mask; 0: there is none.
  LaunchResult<DevicePtr> room_for(std::uint64_t bytes);

  GpuDriver& gpu_;
  std::uint8_t poison_;
  std::vector<Filled> filled_;
  std::vector<Poisoned> poisoned_;
  TrustedKernels* ours_ = nullptr;
  MaskKey key_{};
};

}  // namespace assay::sandbox
