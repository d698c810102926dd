#include "sandbox/launcher/request_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <string>
#include <utility>

namespace assay::sandbox {
namespace {

/// Takes all pages in one call instead of one fault each during the copy to the GPU. Older kernels lack it; then they fault.
void populate([[maybe_unused]] const Mapping& memory) {
#ifdef MADV_POPULATE_READ
  if (memory.size() > 0) ::madvise(memory.data(), memory.size(), MADV_POPULATE_READ);
#endif
}

}  // namespace

Result<RequestMemory> RequestMemory::map(const LaunchMessage& message) {
  RequestMemory memory;
  for (const LaunchInput& input : message.inputs) {
    if (!memory.files_.contains(input.fd)) {
      const int fd = message.fds[input.fd].get();
      Result<std::uint64_t> size = check_foreign_memfd(fd);
      if (!size) return fail(size.error().code, "input " + input.name + ": " + size.error().message);
      Result<Mapping> mapping = Mapping::map(fd, *size, false);
      if (!mapping) return fail(mapping.error());
      populate(*mapping);
      memory.files_.emplace(input.fd, std::move(*mapping));
    }
    const std::span<const std::byte> file = memory.files_.at(input.fd).bytes();
    if (input.offset > file.size() || input.bytes > file.size() - input.offset) {
      return fail(ErrorCode::corrupt, "input " + input.name + ": " + std::to_string(input.bytes) + " bytes from " + std::to_string(input.offset) +
                                          " on are outside its file of " + std::to_string(file.size()) + " bytes");
    }
    memory.inputs_.push_back({input.name, file.subspan(input.offset, input.bytes)});
  }
  const int output = message.fds[message.output_fd].get();
  Result<std::uint64_t> room = check_foreign_memfd(output);
  if (!room) return fail(room.error().code, "outputs: " + room.error().message);
  if (message.output_bytes > *room) {
    return fail(ErrorCode::corrupt, "`output_bytes` is " + std::to_string(message.output_bytes) + ", the file has " + std::to_string(*room));
  }
  Result<Mapping> mapping = Mapping::map(output, message.output_bytes, true);
  if (!mapping) return fail(mapping.error());
  memory.output_ = std::move(*mapping);
  return memory;
}

}  // namespace assay::sandbox
