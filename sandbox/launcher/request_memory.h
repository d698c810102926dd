// RequestMemory: the memory files of one launch request, mapped, as the spans that replay() works on. Each input lies where the
// message says, checked against the file's size. Valid while it lives. Not thread-safe.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/messages.h"
#include "sandbox/launcher/replay.h"
#include "sandbox/wire/memfd.h"

namespace assay::sandbox {

class RequestMemory {
 public:
  /// `corrupt` when a range is outside its file; `io` when a file cannot be mapped. The descriptors may be closed afterwards.
  static Result<RequestMemory> map(const LaunchMessage& message);

  const std::vector<ReplayInput>& inputs() const { return inputs_; }
  std::span<std::byte> output() const { return output_.bytes(); }

 private:
  std::map<std::size_t, Mapping> files_;  // by index of the descriptor; several inputs share one
  std::vector<ReplayInput> inputs_;
  Mapping output_;
};

}  // namespace assay::sandbox
