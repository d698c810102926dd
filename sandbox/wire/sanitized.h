// Defines the message in which a launcher sends the report of a tool of NVIDIA Compute Sanitizer
// (docs/reference/frames.md, "Launcher").
//
//   Status sent = send_frame(socket, to_header(Sanitized{.exit_status = 0}), xml, {}, deadline);
//   Result<Sanitized> read = parse_sanitized(frame);  // the supervisor reads it
//
// The tool's report is the payload of the frame. Values and pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/wire/frame.h"

namespace assay::sandbox {

/// The size of the largest report that a launcher passes on, in bytes.
inline constexpr std::size_t kMaxSanitizerReportBytes = 4U << 20;

/// The last message of a launcher that runs under a sanitizer.
struct Sanitized {
  std::int64_t exit_status = 0;  // of the sanitizer; 128 plus the number if a signal ended it
  std::string report = {};       // XML; empty if the sanitizer wrote no report
};
nlohmann::json to_header(const Sanitized& sanitized);
/// Errors: `corrupt` for any other message, or if a field is missing or out of range, or if the
/// report is too long.
Result<Sanitized> parse_sanitized(const Frame& frame);

}  // namespace assay::sandbox
