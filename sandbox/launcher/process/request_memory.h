// RequestMemory: the memory of one launch request, as the exchange that replay() works on: memory
// files, mapped, or shared device memory. Each range is checked against its memory's size. Valid
// while it and the request live. Not thread-safe.
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
  /// `corrupt` when a range is outside its memory; `io` when a file cannot be mapped.
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
