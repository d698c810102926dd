// check_elf: whether the tables of a device binary stay inside its bytes. The GPU driver takes a
// pointer without a size and follows the file's own offsets, so a truncated or forged image would
// make it read beyond what we own. Whether the *contents* make sense is the driver's business.
// Pure, thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace assay::sandbox {

/// 64-bit little-endian ELF (cubin, hsaco) whose headers, segments and sections lie within `image`;
/// else `invalid_argument`.
Status check_elf(std::string_view image);

/// Bytes of device memory that the image brings along and its code may write: variables that live
/// from launch to launch. Shared memory does not count. `image` has passed check_elf().
std::uint64_t writable_globals(std::string_view image);

}  // namespace assay::sandbox
