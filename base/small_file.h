// read_small_file: the whole text of a file of the kernel's (/proc, /sys, cgroups), by system calls
// alone.
//
// No iostreams on purpose: this runs in forked Python processes that have several C++ runtimes
// loaded, where a stream of one may meet the locale of another (seen: `>>` on an ifstream spinning
// for ever beside a CUDA build of PyTorch). Thread-safe.
#pragma once

#include <cstddef>
#include <string>

namespace assay {

/// Empty when the file cannot be read. At most `limit_bytes` of it.
std::string read_small_file(const std::string& path, std::size_t limit_bytes = 1U << 20);

}  // namespace assay
