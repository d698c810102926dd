// check_elf checks that the tables of a device binary stay inside its bytes. The GPU driver takes a
// pointer without a size and follows the offsets in the file, so a truncated or forged image would
// make it read other memory. The driver itself checks the contents. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace assay::sandbox {

/// Accepts a 64-bit little-endian ELF file (cubin, hsaco) whose headers, segments and sections lie
/// within `image`. Errors: `invalid_argument`.
Status check_elf(std::string_view image);

/// Returns the bytes of the image's writable variables in device memory, which keep their values
/// from launch to launch. Shared memory does not count. `image` must have passed check_elf().
std::uint64_t writable_globals(std::string_view image);

}  // namespace assay::sandbox
