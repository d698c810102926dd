// Maps device memory of other processes. CUDA and HIP have the same calls for it, under different
// names and types. So each driver says how its API makes a call, and this class makes the calls in
// order and undoes them after an error.
//
//   LaunchResult<DevicePtr> base = mappings.map(fd, bytes);
//   LaunchStatus hidden = mappings.hide(*base);   // no code of the device can access the memory
//   LaunchStatus shown = mappings.show(*base);    // at the same address
//   LaunchStatus unmapped = mappings.unmap(*base);
//
// hide() and show() make fewer calls than unmap() and map(). The drivers of some machines serve all
// processes of all GPUs one after the other, so each call that is saved counts.
//
// Not thread-safe: one thread drives a device.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

class SharedMappings {
 public:
  SharedMappings() = default;
  SharedMappings(const SharedMappings&) = delete;
  SharedMappings& operator=(const SharedMappings&) = delete;
  virtual ~SharedMappings() = default;

  /// Maps the memory of the descriptor `fd`, for reading and writing. `bytes` is the size of the
  /// whole memory. After an error, nothing is mapped.
  LaunchResult<DevicePtr> map(int fd, std::uint64_t bytes);
  /// Takes the memory away from the device's code until show() is called. Errors: internal_error
  /// for an address that is not mapped, or that is hidden.
  LaunchStatus hide(DevicePtr memory);
  /// Maps hidden memory again, at the same address. Errors: internal_error for an address that is
  /// not hidden.
  LaunchStatus show(DevicePtr memory);
  /// Unmaps memory that map() returned, even if it is hidden. Errors: internal_error for an address
  /// that is not mapped.
  LaunchStatus unmap(DevicePtr memory);

 protected:
  using Handle = std::uint64_t;  // the API's handle of an allocation

  // Each function makes one call of the API, and returns the API's result. 0 is success.
  virtual int import_memory(Handle& handle, int fd) = 0;
  virtual int release(Handle handle) = 0;
  virtual int reserve(DevicePtr& base, std::uint64_t bytes) = 0;
  virtual int free_addresses(DevicePtr base, std::uint64_t bytes) = 0;
  virtual int map_at(DevicePtr base, std::uint64_t bytes, Handle handle) = 0;
  virtual int allow_access(DevicePtr base, std::uint64_t bytes) = 0;
  virtual int unmap_at(DevicePtr base, std::uint64_t bytes) = 0;
  /// Returns the error for a result that is not 0.
  virtual LaunchError classified(int result, const std::string& doing) const = 0;

 private:
  struct Mapped {
    std::uint64_t bytes = 0;
    Handle handle = 0;
    bool hidden = false;
  };

  LaunchStatus check(int result, const char* doing) const;
  LaunchStatus map_reserved(DevicePtr base, std::uint64_t bytes, Handle handle);
  /// Returns the entry of an address, or nothing if `hidden` is not its state.
  Mapped* find(DevicePtr memory, bool hidden);

  std::map<DevicePtr, Mapped> mapped_;
};

}  // namespace assay::sandbox
