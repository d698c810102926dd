// Reads a submission from a file, refusing what cannot be one: missing, a directory, empty, binary,
// too large.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay::server {

/// not_found: no such readable file (exit status kNoInput). corrupt: empty, binary or larger than
/// `max_bytes` (kBadData).
/// "-" reads standard input.
Result<std::string> read_source(const std::string& path, std::int64_t max_bytes);

}  // namespace assay::server
