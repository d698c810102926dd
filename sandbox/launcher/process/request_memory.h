// RequestMemory opens the memory of one launch request as the SharedBuffers that replay() works on:
// mapped memory files, or shared device memory. It checks each range against the size of its
// memory. The request must outlive it. Not thread-safe.
#pragma once

#include <map>
#include <memory>

#include "base/result.h"
#include "sandbox/launcher/memory/shared_buffers.h"
#include "sandbox/launcher/process/messages.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {

class RequestMemory {
 public:
  /// Errors: `corrupt` if a range is outside its memory; `io` if a file cannot be mapped.
  static Result<RequestMemory> open(const LaunchMessage& message, GpuDriver& gpu);

  SharedBuffers& exchange() { return *exchange_; }

 private:
  Status map_files(const LaunchMessage& message, GpuDriver& gpu);
  Status describe_device(const LaunchMessage& message, GpuDriver& gpu);

  std::map<std::size_t, Mapping> files_;  // by index of the descriptor; several inputs share one
  Mapping output_;
  std::unique_ptr<SharedBuffers> exchange_;  // borrows the above
};

}  // namespace assay::sandbox
