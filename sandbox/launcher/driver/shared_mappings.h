// Maps device memory of other processes. CUDA and HIP have the same calls for it, under different
// names and types. So each driver says how its API makes a call, and this class makes the calls in
// order and undoes them after an error.
//
//   LaunchResult<DevicePtr> base = mappings.map(fd, bytes);
//   LaunchStatus unmapped = mappings.unmap(*base);
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
  /// Unmaps memory that map() returned. Errors: internal_error for an address that is not mapped.
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
  LaunchStatus check(int result, const char* doing) const;

  std::map<DevicePtr, std::uint64_t> mapped_;  // address -> size in bytes
};

}  // namespace assay::sandbox
