// Where groups of this process may be made, per controller.
#pragma once

#include <string>

#include "base/result.h"

namespace assay::sandbox {

struct CgroupPlace {
  std::string folder;  // new groups go below it
  bool version2 = false;
};

/// `controller`: "memory", "pids" or "cpu". Errors: unavailable, with what a person could do about
/// it.
Result<CgroupPlace> find_cgroup_place(const std::string& controller);

/// Whole contents of a small file of the kernel; empty when it cannot be read.
std::string read_kernel_file(const std::string& path);
Status write_kernel_file(const std::string& path, const std::string& text);

}  // namespace assay::sandbox
