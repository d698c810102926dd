// Reads and writes times in the form of RFC 3339, for example the end of a token's validity. Pure
// functions, thread-safe.
//
//   iso_time(1'764'316'800'123);                        // "2025-11-28T08:00:00.123Z"
//   unix_ms_from("2027-01-31T00:00:00Z").value();       // 1801353600000
//   unix_ms_from("2027-01-31T02:00:00+02:00").value();  // the same time
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

/// Returns the milliseconds since the Unix epoch. Digits after the third one of a fraction are
/// dropped. A leap second counts as the first second of the next minute. Error: invalid_argument,
/// and the message shows the valid form.
Result<std::int64_t> unix_ms_from(std::string_view text);

/// Returns a time, in milliseconds since 1970, in ISO 8601 format, in UTC, with milliseconds.
std::string iso_time(std::int64_t unix_ms);

}  // namespace assay
