// Reads a whole regular file, or standard input, up to a limit.
//
//   Result<std::string> bytes = read_file_bytes("kernel.plan", kMaxPlanBytes, "a launch plan");
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay::server {

/// "-" reads standard input. not_found: no such readable regular file. corrupt: larger than
/// `max_bytes`, the limit for `what`. io: a read failed.
Result<std::string> read_file_bytes(const std::string& path, std::int64_t max_bytes,
                                    const std::string& what);

}  // namespace assay::server
