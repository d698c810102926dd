// Reads a time as RFC 3339 writes it, for example the end of a token's validity. Pure function,
// thread-safe.
//
//   unix_ms_from("2027-01-31T00:00:00Z").value();       // 1801353600000
//   unix_ms_from("2027-01-31T02:00:00+02:00").value();  // the same time
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace assay {

/// Returns the milliseconds since the Unix epoch. Digits after the third one of a fraction are
/// dropped. A leap second counts as the first second of the next minute. Error: invalid_argument,
/// and the message shows the valid form.
Result<std::int64_t> unix_ms_from(std::string_view text);

}  // namespace assay
