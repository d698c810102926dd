// Writes times for people and logs.
//
//   iso_time(1'764'316'800'123);  // "2025-11-28T08:00:00.123Z"
//
// Pure function, thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// Returns a time, in milliseconds since 1970, in ISO 8601 format, in UTC, with milliseconds.
std::string iso_time(std::int64_t unix_ms);

}  // namespace assay
