#include "sandbox/launcher/driver/shared_mappings.h"

namespace assay::sandbox {

LaunchStatus SharedMappings::check(int result, const char* doing) const {
  if (result == 0) return {};
  return launch_fail(classified(result, doing));
}

LaunchStatus SharedMappings::map_reserved(DevicePtr base, std::uint64_t bytes, Handle handle) {
  LaunchStatus mapped = check(map_at(base, bytes, handle), "mapping shared memory");
  if (!mapped) return mapped;
  mapped = check(allow_access(base, bytes), "allowing access to shared memory");
  if (!mapped) unmap_at(base, bytes);
  return mapped;
}

LaunchResult<DevicePtr> SharedMappings::map(int fd, std::uint64_t bytes) {
  Handle handle = 0;
  if (LaunchStatus s = check(import_memory(handle, fd), "importing shared memory"); !s)
    return tl::unexpected(s.error());
  DevicePtr base = 0;
  LaunchStatus mapped = check(reserve(base, bytes), "reserving addresses");
  if (mapped) {
    mapped = map_reserved(base, bytes, handle);
    if (!mapped) free_addresses(base, bytes);
  }
  if (!mapped) {
    release(handle);
    return tl::unexpected(mapped.error());
  }
  mapped_[base] = {bytes, handle};
  return base;
}

SharedMappings::Mapped* SharedMappings::find(DevicePtr memory, bool hidden) {
  const auto found = mapped_.find(memory);
  return found == mapped_.end() || found->second.hidden != hidden ? nullptr : &found->second;
}

LaunchStatus SharedMappings::hide(DevicePtr memory) {
  Mapped* const mapped = find(memory, false);
  if (mapped == nullptr)
    return launch_fail(LaunchErrorKind::internal_error, "hiding shared memory that is not mapped");
  LaunchStatus hidden = check(unmap_at(memory, mapped->bytes), "hiding shared memory");
  mapped->hidden = hidden.has_value();
  return hidden;
}

LaunchStatus SharedMappings::show(DevicePtr memory) {
  Mapped* const mapped = find(memory, true);
  if (mapped == nullptr)
    return launch_fail(LaunchErrorKind::internal_error, "showing shared memory that is not hidden");
  LaunchStatus shown = map_reserved(memory, mapped->bytes, mapped->handle);
  mapped->hidden = !shown.has_value();
  return shown;
}

LaunchStatus SharedMappings::unmap(DevicePtr memory) {
  const auto found = mapped_.find(memory);
  if (found == mapped_.end())
    return launch_fail(LaunchErrorKind::internal_error,
                       "unmapping shared memory that is not mapped");
  const Mapped mapped = found->second;
  mapped_.erase(found);
  LaunchStatus unmapped;
  if (!mapped.hidden) unmapped = check(unmap_at(memory, mapped.bytes), "unmapping shared memory");
  LaunchStatus freed = check(free_addresses(memory, mapped.bytes), "freeing addresses");
  release(mapped.handle);
  return unmapped ? freed : unmapped;
}

}  // namespace assay::sandbox
