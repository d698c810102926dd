// SharedBuffers gives access to a case's inputs and to the memory for its outputs. The buffers are
// either memory files of the host, or device memory that the launcher shares with the judge. Shared
// device memory saves both processes a transfer over the bus.
//
//   DeviceBuffers shared(gpu, {fd, 8192}, {{"x", 0, 4096}}, {4096, 4096});
//   LaunchStatus copied = shared.copy_in(0, buffer);  // maps the memory
//   LaunchStatus closed = shared.close();  // unmaps it before submitted code runs
//   LaunchStatus out = shared.copy_out(0, buffer, 4096, trusted);  // maps it again, after the run
//
// Submitted code can access memory that is mapped. So close() must be called before submitted code
// runs. Not thread-safe: one thread drives a device.
#pragma once

#include <cstddef>
#include <cstdint>
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

  /// Copies an input to device memory at `to`.
  virtual LaunchStatus copy_in(std::size_t input, DevicePtr to) = 0;
  /// Copies device memory at `from` to the memory for outputs, starting at `offset`. If that memory
  /// is on the device, `trusted` makes the copy. If `trusted` is null, the driver makes it.
  virtual LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                                TrustedKernels* trusted) = 0;
  /// Returns true if the device memory at `at` equals an input, bit for bit. If the input is in
  /// shared device memory, maps the memory, and `trusted` performs the comparison on the device. If
  /// `trusted` is null or the input is in host memory, the host performs the comparison.
  virtual LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* trusted) = 0;
  /// Waits for the copies and unmaps the memory. Until the next copy, device code cannot access the
  /// inputs or the memory for outputs.
  virtual LaunchStatus close() = 0;
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
  LaunchStatus copy_in(std::size_t input, DevicePtr to) override {
    return gpu_.write(to, inputs_[input].bytes);
  }
  LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                        TrustedKernels*) override {
    return gpu_.read(output_.subspan(offset, bytes), from);
  }
  LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* trusted) override;
  LaunchStatus close() override { return {}; }

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

/// Buffers in device memory of another process. The first copy or comparison maps the memory, and
/// close() unmaps it. All ranges must be inside the memory. RequestMemory (serve.cc) checks the
/// ranges.
class DeviceBuffers final : public SharedBuffers {
 public:
  DeviceBuffers(GpuDriver& gpu, SharedDeviceMemory memory, std::vector<DeviceInput> inputs,
                SharedRange output)
      : gpu_(gpu), memory_(memory), inputs_(std::move(inputs)), output_(output) {}
  DeviceBuffers(const DeviceBuffers&) = delete;
  DeviceBuffers& operator=(const DeviceBuffers&) = delete;
  ~DeviceBuffers() override;

  std::size_t inputs() const override { return inputs_.size(); }
  const std::string& name(std::size_t input) const override { return inputs_[input].name; }
  std::uint64_t bytes(std::size_t input) const override { return inputs_[input].bytes; }
  bool inout(std::size_t input) const override { return inputs_[input].inout; }
  std::uint64_t output_bytes() const override { return output_.bytes; }
  LaunchStatus copy_in(std::size_t input, DevicePtr to) override;
  LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes,
                        TrustedKernels* trusted) override;
  LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* trusted) override;
  LaunchStatus close() override;

 private:
  LaunchStatus open();

  GpuDriver& gpu_;
  const SharedDeviceMemory memory_;
  const std::vector<DeviceInput> inputs_;
  const SharedRange output_;
  DevicePtr base_ = 0;  // 0 while the memory is not mapped
};

}  // namespace assay::sandbox
