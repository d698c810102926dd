// SharedBuffers: where a case's inputs come from and where its outputs go. Memory files of the
// host, or device memory shared with the judge, which spares both sides the way over the bus.
//
//   DeviceExchange exchange(gpu, fd, bytes, {{"x", 0, 4096}}, 4096, 4096);
//   exchange.copy_in(0, buffer);           // opens it
//   exchange.close();                      // before any submitted code runs: device code reaches
//   everything that is mapped
//   ... run, wait ...
//   exchange.copy_out(0, buffer, 4096);    // opens it again
//
// Not thread-safe: one thread drives a device.
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
  /// Whether a plan may write to it.
  virtual bool inout(std::size_t input) const = 0;
  /// Room for outputs.
  virtual std::uint64_t output_bytes() const = 0;

  /// Fills device memory at `to` with an input.
  virtual LaunchStatus copy_in(std::size_t input, DevicePtr to) = 0;
  /// Copies device memory to `offset` of the outputs.
  virtual LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes) = 0;
  /// Whether device memory at `at` still holds an input, bit for bit. Opens it; `ours` may be null,
  /// then it is read by the host.
  virtual LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* ours) = 0;
  /// Waits for the copies. Until the next one, device code cannot reach inputs or outputs.
  virtual LaunchStatus close() = 0;
};

struct HostInput {
  std::string name;
  std::span<const std::byte> bytes;
  bool inout = false;
};

/// Host memory, borrowed. Device code never reaches it.
class HostExchange final : public SharedBuffers {
 public:
  HostExchange(GpuDriver& gpu, std::vector<HostInput> inputs, std::span<std::byte> output)
      : gpu_(gpu), inputs_(std::move(inputs)), output_(output) {}

  std::size_t inputs() const override { return inputs_.size(); }
  const std::string& name(std::size_t input) const override { return inputs_[input].name; }
  std::uint64_t bytes(std::size_t input) const override { return inputs_[input].bytes.size(); }
  bool inout(std::size_t input) const override { return inputs_[input].inout; }
  std::uint64_t output_bytes() const override { return output_.size(); }
  LaunchStatus copy_in(std::size_t input, DevicePtr to) override {
    return gpu_.write(to, inputs_[input].bytes);
  }
  LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes) override {
    return gpu_.read(output_.subspan(offset, bytes), from);
  }
  LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* ours) override;
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

/// Device memory of another process, mapped only while something is copied. Ranges must lie inside
/// it (RequestMemory checks them).
class DeviceExchange final : public SharedBuffers {
 public:
  /// `fd`: the handle, borrowed; `bytes`: all of the shared memory.
  DeviceExchange(GpuDriver& gpu, int fd, std::uint64_t bytes, std::vector<DeviceInput> inputs,
                 std::uint64_t output_offset, std::uint64_t output_bytes)
      : gpu_(gpu),
        fd_(fd),
        bytes_(bytes),
        inputs_(std::move(inputs)),
        output_offset_(output_offset),
        output_bytes_(output_bytes) {}
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;
  ~DeviceExchange() override;

  std::size_t inputs() const override { return inputs_.size(); }
  const std::string& name(std::size_t input) const override { return inputs_[input].name; }
  std::uint64_t bytes(std::size_t input) const override { return inputs_[input].bytes; }
  bool inout(std::size_t input) const override { return inputs_[input].inout; }
  std::uint64_t output_bytes() const override { return output_bytes_; }
  LaunchStatus copy_in(std::size_t input, DevicePtr to) override;
  LaunchStatus copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes) override;
  LaunchResult<bool> same(std::size_t input, DevicePtr at, TrustedKernels* ours) override;
  LaunchStatus close() override;

 private:
  LaunchStatus open();

  GpuDriver& gpu_;
  const int fd_;
  const std::uint64_t bytes_;
  const std::vector<DeviceInput> inputs_;
  const std::uint64_t output_offset_, output_bytes_;
  DevicePtr base_ = 0;  // 0: closed
};

}  // namespace assay::sandbox
