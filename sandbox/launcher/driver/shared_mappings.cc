#include "sandbox/launcher/driver/shared_mappings.h"

namespace assay::sandbox {

LaunchStatus SharedMappings::check(int result, const char* doing) const {
  if (result == 0) return {};
  return launch_fail(classified(result, doing));
}

LaunchResult<DevicePtr> SharedMappings::map(int fd, std::uint64_t bytes) {
  Handle handle = 0;
  if (LaunchStatus s = check(import_memory(handle, fd), "importing shared memory"); !s)
    return tl::unexpected(s.error());
  DevicePtr base = 0;
  LaunchStatus mapped = check(reserve(base, bytes), "reserving addresses");
  if (mapped) {
    mapped = check(map_at(base, bytes, handle), "mapping shared memory");
    if (mapped) {
      mapped = check(allow_access(base, bytes), "allowing access to shared memory");
      if (!mapped) unmap_at(base, bytes);
    }
    if (!mapped) free_addresses(base, bytes);
  }
  release(handle);  // the mapping keeps the memory alive
  if (!mapped) return tl::unexpected(mapped.error());
  mapped_[base] = bytes;
  return base;
}

LaunchStatus SharedMappings::unmap(DevicePtr memory) {
  const auto found = mapped_.find(memory);
  if (found == mapped_.end())
    return launch_fail(LaunchErrorKind::internal_error,
                       "unmapping shared memory that is not mapped");
  const std::uint64_t bytes = found->second;
  mapped_.erase(found);
  LaunchStatus unmapped = check(unmap_at(memory, bytes), "unmapping shared memory");
  LaunchStatus freed = check(free_addresses(memory, bytes), "freeing addresses");
  return unmapped ? freed : unmapped;
}

}  // namespace assay::sandbox
