// Provides a harness whose judge shares device memory with the launcher on a machine without a GPU.
// The judge's device memory is a memory file, which the fake driver maps in place of shared device
// memory. So a judge can give a case new inputs between timed rounds, and can set outputs aside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/sandbox/device/device_fixture.h"

namespace assay::sandbox::testing {

// Replaces the function of sandbox/harness/judging/shared_buffers.py. It logs the size of the
// memory that each job gets.
inline constexpr const char* kFileBuffers = R"(

import mmap
import os

from harness.wire.tensors import create_memfd


class FileBuffers:
    def __init__(self) -> None:
        self.size = 0

    def room(self, size: int) -> torch.Tensor:
        with open("@LOG@", "a") as log:
            print(size, file=log)
        if size > self.size:
            self.size = size
            self.fd = create_memfd("shared-buffers", size)
            self.memory = torch.frombuffer(mmap.mmap(self.fd, size), dtype=torch.uint8)
        return self.memory

    def handle(self) -> int:
        return os.dup(self.fd)

    def free(self) -> None:
        self.size = 0


def open_shared_buffers(device: torch.device) -> SharedBuffersPool | None:
    return SharedBuffersPool(FileBuffers, 1 << 30)
)";

/// The harness of this build, with a judge whose device memory is a memory file.
class SharingHarness {
 public:
  explicit SharingHarness(const std::string& name)
      : folder_(std::filesystem::path(ASSAY_BINARY_DIR) / "test-harness" / name / "harness"),
        log_(folder_.parent_path() / "sizes") {
    std::filesystem::remove_all(folder_.parent_path());
    std::filesystem::create_directories(folder_.parent_path());
    std::filesystem::copy(real_config().harness_dir, folder_,
                          std::filesystem::copy_options::recursive);
    std::string code = kFileBuffers;
    code.replace(code.find("@LOG@"), 5, log_.string());
    std::ofstream(folder_ / "judging/shared_buffers.py", std::ios::app) << code;
  }
  std::string folder() const { return folder_.string(); }
  /// Returns the sizes of the device memory of the jobs so far.
  std::vector<std::uint64_t> sizes() const {
    std::ifstream file(log_);
    return {std::istream_iterator<std::uint64_t>(file), {}};
  }

 private:
  std::filesystem::path folder_, log_;
};

}  // namespace assay::sandbox::testing
