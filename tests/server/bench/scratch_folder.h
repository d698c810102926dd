// Defines a new folder for one test. The destructor removes the folder with its content.
#pragma once

#include <filesystem>

#include "base/handle.h"

namespace assay {

struct ScratchFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / new_handle("bench_test");
  ScratchFolder() = default;
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace assay
