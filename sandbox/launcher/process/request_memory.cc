#include "sandbox/launcher/process/request_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <string>
#include <utility>

namespace assay::sandbox {
namespace {

/// Populates all pages in one call, which saves a page fault for each during the copy to the GPU.
/// Older kernels lack the call; then the pages fault.
void populate([[maybe_unused]] const Mapping& memory) {
#ifdef MADV_POPULATE_READ
  if (memory.size() > 0) ::madvise(memory.data(), memory.size(), MADV_POPULATE_READ);
#endif
}

Status check_range(const std::string& what, std::uint64_t offset, std::uint64_t bytes,
                   std::uint64_t size) {
  if (offset <= size && bytes <= size - offset) return {};
  return fail(ErrorCode::corrupt, what + ": " + std::to_string(bytes) + " bytes from " +
                                      std::to_string(offset) + " on are outside its memory of " +
                                      std::to_string(size) + " bytes");
}

}  // namespace

Result<RequestMemory> RequestMemory::open(const LaunchMessage& message, GpuDriver& gpu) {
  RequestMemory memory;
  Status opened = message.device_bytes > 0 ? memory.describe_device(message, gpu)
                                           : memory.map_files(message, gpu);
  if (!opened) return fail(opened.error());
  return memory;
}

Status RequestMemory::map_files(const LaunchMessage& message, GpuDriver& gpu) {
  std::vector<HostInput> inputs;
  for (const LaunchInput& input : message.inputs) {
    if (!files_.contains(input.fd)) {
      const int fd = message.fds[input.fd].get();
      Result<std::uint64_t> size = check_foreign_memfd(fd);
      if (!size)
        return fail(size.error().code, "input " + input.name + ": " + size.error().message);
      Result<Mapping> mapping = Mapping::map(fd, *size, false);
      if (!mapping) return fail(mapping.error());
      populate(*mapping);
      files_.emplace(input.fd, std::move(*mapping));
    }
    const std::span<const std::byte> file = files_.at(input.fd).bytes();
    if (Status inside = check_range("input " + input.name, input.offset, input.bytes, file.size());
        !inside)
      return inside;
    inputs.push_back({input.name, file.subspan(input.offset, input.bytes), input.inout});
  }
  const int output = message.fds[message.output_fd].get();
  Result<std::uint64_t> room = check_foreign_memfd(output);
  if (!room) return fail(room.error().code, "outputs: " + room.error().message);
  if (Status inside = check_range("outputs", message.output_offset, message.output_bytes, *room);
      !inside)
    return inside;
  Result<Mapping> mapping =
      Mapping::map(output, message.output_offset + message.output_bytes, true);
  if (!mapping) return fail(mapping.error());
  output_ = std::move(*mapping);
  exchange_ = std::make_unique<HostBuffers>(gpu, std::move(inputs),
                                            output_.bytes().subspan(message.output_offset));
  return {};
}

Status RequestMemory::describe_device(const LaunchMessage& message, GpuDriver& gpu) {
  std::vector<DeviceInput> inputs;
  for (const LaunchInput& input : message.inputs) {
    if (Status inside =
            check_range("input " + input.name, input.offset, input.bytes, message.device_bytes);
        !inside)
      return inside;
    inputs.push_back({input.name, input.offset, input.bytes, input.inout});
  }
  if (Status inside =
          check_range("outputs", message.output_offset, message.output_bytes, message.device_bytes);
      !inside)
    return inside;
  exchange_ = std::make_unique<DeviceBuffers>(gpu, message.fds[message.output_fd].get(),
                                              message.device_bytes, std::move(inputs),
                                              message.output_offset, message.output_bytes);
  return {};
}

}  // namespace assay::sandbox
