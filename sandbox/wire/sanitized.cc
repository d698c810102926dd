#include "sandbox/wire/sanitized.h"

#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {
namespace {

constexpr const char* kSanitizedType = "sanitized";
constexpr std::int64_t kHighestExitStatus = 255;

}  // namespace

nlohmann::json to_header(const Sanitized& sanitized) {
  return {{"type", kSanitizedType}, {"exit_status", sanitized.exit_status}};
}

Result<Sanitized> parse_sanitized(const Frame& frame) {
  if (Status typed = expect_type(frame, kSanitizedType); !typed) return fail(typed.error());
  HeaderReader in(frame.header, kSanitizedType);
  Sanitized sanitized;
  sanitized.exit_status = in.integer("exit_status", 0, kHighestExitStatus);
  if (frame.payload.size() > kMaxSanitizerReportBytes) in.reject("the report is too long");
  if (Status read = in.status(); !read) return fail(read.error());
  sanitized.report = frame.payload;
  return sanitized;
}

}  // namespace assay::sandbox
