// Reads and writes durations and sizes as a person types them on a command line. Every command with
// such an option uses these functions, so all commands accept the same texts. Pure functions,
// thread-safe.
//
//   seconds_from("1h30m").value();  // 5400
//   bytes_from("1GiB").value();     // 1073741824
//   bytes_text(1610612736);         // "1.5 GiB"
//   seconds_text(90'000);           // "1d1h"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

/// Returns the seconds of "90", "90s", "15m", "2h", "7d" or "1h30m". Larger units come first, each
/// at most once. Only a number without any unit counts seconds: "1h30" is an error. Error:
/// invalid_argument for any other text, for 0, and for more than 3,650 days.
Result<std::int64_t> seconds_from(std::string_view text);

/// Returns the bytes of "4096", "64KiB", "512MiB", "4GiB" or "1TiB". Error: invalid_argument for
/// any other text, for 0, and for more than 1,024 TiB.
Result<std::int64_t> bytes_from(std::string_view text);

/// Returns `bytes` in the largest unit that is not larger than `bytes`, with one digit after the
/// point if needed.
std::string bytes_text(std::int64_t bytes);

/// Returns a text such as "1d1h". If `seconds` is positive, seconds_from() reads the text as the
/// same number.
std::string seconds_text(std::int64_t seconds);

}  // namespace assay
