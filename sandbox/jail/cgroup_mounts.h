// Finds the folder in which this process may make control groups, per controller.
#pragma once

#include <string>

#include "base/result.h"

namespace assay::sandbox {

struct CgroupPlace {
  std::string folder;  // new groups go below it
  bool version2 = false;
};

/// `controller` is "memory", "pids" or "cpu". Errors: unavailable, with the steps that would make
/// it available.
Result<CgroupPlace> find_cgroup_place(const std::string& controller);

/// Returns the contents of a small file of the kernel, or an empty string if it cannot be read.
std::string read_kernel_file(const std::string& path);
Status write_kernel_file(const std::string& path, const std::string& text);

}  // namespace assay::sandbox
