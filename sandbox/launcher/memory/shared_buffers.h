// SharedBuffers gives access to a case's inputs and to the memory for its outputs. The buffers are
// either memory files of the host, or device memory that the launcher shares with the judge. Shared
// device memory saves both processes a transfer over the bus.
//
//   DeviceBuffers shared(gpu, {fd, 8192}, {{"x", 0, 4096}}, {4096, 4096});
//   LaunchStatus copied = shared.copy_in(0, buffer, trusted);  // maps the memory
//   LaunchStatus closed = shared.close();  // unmaps it before submitted code runs
//   LaunchStatus out = shared.copy_out(0, buffer, 4096, trusted);  // maps it again, after the run
//   LaunchStatus copied_out = shared.finish();  // the memory stays mapped for the next launch
//
// Submitted code can access memory that is mapped. So close() must be called before submitted code
// is loaded, runs or is unloaded. Submitted code may also have overwritten kernels that run later.
// So while the memory is mapped, only trusted kernels run that were loaded again before it was
// mapped, and no kernel of the driver. Not thread-safe: one thread drives a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/memory/trusted_kernels.h"

namespace assay::sandbox {

class SharedBuffers {
 public:
  virtual ~SharedBuffers() = default;

  virtual std::size_t inputs() const = 0;
  virtual const std::string& name(std::size_t input) const = 0;
  virtual std::uint64_t bytes(std::size_t input) const = 0;
  /// Returns true if a plan may write to the input.
  virtual bool inout(std::size_t input) const = 0;
  /// Returns the size of the memory for outputs, in bytes.
  virtual std::uint64_t output_bytes() const = 0;

  /// Copies an input to device memory at `to`. If the input is in shared device memory, `trusted`
  /// makes the copy. If `trusted` is null, the driver makes it.
  virtual LaunchStatus copy_in(std::size_t input, DevicePtr to, TrustedKernels* trusted) = 0;
  /// Copies device memory at `from` to the memory for outputs, starting at `offset`. If that memory
  /// is on the device, `trusted` makes the copy. If `trusted` is null, the driver makes it.
  virtual LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                                TrustedKernels* trusted) = 0;
  /// Takes as long as copy_out(), and changes nothing.
  virtual LaunchStatus pretend_copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                                        TrustedKernels* trusted) = 0;
  /// Returns true if the device memory at `at` equals an input, bit for bit. If the input is in
  /// shared device memory, maps the memory, and `trusted` performs the comparison on the device. If
  /// `trusted` is null or the input is in host memory, the host performs the comparison.
  virtual LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* trusted) = 0;
  /// Waits for the copies and hides the memory. Until the next copy, device code cannot access the
  /// inputs or the memory for outputs.
  virtual LaunchStatus close() = 0;
  /// Waits for the copies. The memory stays mapped if it is, so that the next launch need not map
  /// it. Between two launches of a launcher, no submitted code runs.
  virtual LaunchStatus finish() = 0;
  /// Returns the time that the calls of the driver took that map, hide and show the memory.
  virtual std::int64_t mapping_ns() const { return 0; }
};

struct HostInput {
  std::string name;
  std::span<const std::byte> bytes;
  bool inout = false;
};

/// Buffers in host memory, which the caller owns. Device code never accesses them.
class HostBuffers final : public SharedBuffers {
 public:
  HostBuffers(GpuDriver& gpu, std::vector<HostInput> inputs, std::span<std::byte> output)
      : gpu_(gpu), inputs_(std::move(inputs)), output_(output) {}

  std::size_t inputs() const override { return inputs_.size(); }
  const std::string& name(std::size_t input) const override { return inputs_[input].name; }
  std::uint64_t bytes(std::size_t input) const override { return inputs_[input].bytes.size(); }
  bool inout(std::size_t input) const override { return inputs_[input].inout; }
  std::uint64_t output_bytes() const override { return output_.size(); }
  LaunchStatus copy_in(std::size_t input, DevicePtr to, TrustedKernels*) override {
    return gpu_.write(to, inputs_[input].bytes);
  }
  LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                        TrustedKernels*) override {
    return gpu_.read(output_.subspan(offset, bytes), from);
  }
  LaunchStatus pretend_copy_out(std::uint64_t, DevicePtr from, std::uint64_t bytes,
                                TrustedKernels*) override {
    std::vector<std::byte> unused(bytes);
    return gpu_.read(unused, from);
  }
  LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* trusted) override;
  LaunchStatus close() override { return {}; }
  LaunchStatus finish() override { return {}; }

 private:
  GpuDriver& gpu_;
  std::vector<HostInput> inputs_;
  std::span<std::byte> output_;
};

struct DeviceInput {
  std::string name;
  std::uint64_t offset = 0, bytes = 0;
  bool inout = false;
};

/// A handle to device memory that another process allocated.
struct SharedDeviceMemory {
  int fd = -1;              // the handle, which the caller closes
  std::uint64_t bytes = 0;  // size of the whole memory, in bytes
};

/// A range of the shared memory.
struct SharedRange {
  std::uint64_t offset = 0, bytes = 0;
};

/// The access to device memory of another process. It may serve several DeviceBuffers, one after
/// the other: open() maps the memory, close() hides it, the next open() shows it again, and the
/// destructor unmaps it.
class SharedMapping {
 public:
  SharedMapping(GpuDriver& gpu, SharedDeviceMemory memory) : gpu_(gpu), memory_(memory) {}
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;
  ~SharedMapping();

  /// Waits until all earlier kernels have ended, loads `trusted` again, and lets device code access
  /// the memory. Submitted code may have overwritten the launcher's own kernels. They run while the
  /// memory is mapped, which contains the inputs of all cases of the job, also of hidden ones. If
  /// `trusted` is null, nothing is loaded.
  LaunchStatus open(TrustedKernels* trusted);
  /// Waits until all earlier kernels have ended, and takes the memory away from device code.
  LaunchStatus close();
  /// The address of the memory, after open().
  DevicePtr base() const { return base_; }
  std::uint64_t bytes() const { return memory_.bytes; }
  /// Sets another descriptor of the same memory. A descriptor is used by the first open() only.
  void set_descriptor(int fd) { memory_.fd = fd; }
  /// The time that the driver's calls to map, hide and show the memory have taken.
  std::int64_t took_ns() const { return took_ns_; }

 private:
  /// Maps the memory, or shows it if it is hidden.
  LaunchStatus show();

  GpuDriver& gpu_;
  SharedDeviceMemory memory_;
  DevicePtr base_ = 0;     // 0 until the memory is mapped
  bool is_shown_ = false;  // whether device code can access the memory
  std::int64_t took_ns_ = 0;
};

/// Buffers in device memory of another process. The first copy or comparison opens the mapping, and
/// close() closes it. A mapping that these buffers share stays open if nothing has closed it. All
/// ranges must be inside the memory. RequestMemory (serve.cc) checks the ranges.
class DeviceBuffers final : public SharedBuffers {
 public:
  DeviceBuffers(GpuDriver& gpu, SharedDeviceMemory memory, std::vector<DeviceInput> inputs,
                SharedRange output)
      : DeviceBuffers(gpu, std::make_shared<SharedMapping>(gpu, memory), std::move(inputs),
                      output) {}
  /// Uses a mapping that outlives these buffers.
  DeviceBuffers(GpuDriver& gpu, std::shared_ptr<SharedMapping> mapping,
                std::vector<DeviceInput> inputs, SharedRange output)
      : gpu_(gpu), mapping_(std::move(mapping)), inputs_(std::move(inputs)), output_(output) {}
  DeviceBuffers(const DeviceBuffers&) = delete;
  DeviceBuffers& operator=(const DeviceBuffers&) = delete;

  std::size_t inputs() const override { return inputs_.size(); }
  const std::string& name(std::size_t input) const override { return inputs_[input].name; }
  std::uint64_t bytes(std::size_t input) const override { return inputs_[input].bytes; }
  bool inout(std::size_t input) const override { return inputs_[input].inout; }
  std::uint64_t output_bytes() const override { return output_.bytes; }
  LaunchStatus copy_in(std::size_t input, DevicePtr to, TrustedKernels* trusted) override;
  LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                        TrustedKernels* trusted) override;
  LaunchStatus pretend_copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                                TrustedKernels* trusted) override;
  LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* trusted) override;
  LaunchStatus close() override { return mapping_->close(); }
  LaunchStatus finish() override { return gpu_.synchronize(); }
  std::int64_t mapping_ns() const override { return mapping_->took_ns(); }

 private:
  GpuDriver& gpu_;
  const std::shared_ptr<SharedMapping> mapping_;
  const std::vector<DeviceInput> inputs_;
  const SharedRange output_;
};

}  // namespace assay::sandbox
