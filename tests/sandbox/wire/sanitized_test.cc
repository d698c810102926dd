#include "sandbox/wire/sanitized.h"

#include <string>
#include <utility>

#include "sandbox/wire/sanitizer_tool.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

Frame frame_with(nlohmann::json header, std::string payload = {}) {
  Frame frame;
  frame.header = std::move(header);
  frame.payload = std::move(payload);
  return frame;
}

}  // namespace

TEST_CASE("a sanitizer's report is read back as it was sent") {
  const Sanitized sent{.exit_status = 3, .report = "<a/>"};
  const Result<Sanitized> read = parse_sanitized(frame_with(to_header(sent), sent.report));
  REQUIRE(read);
  CHECK(read->exit_status == 3);
  CHECK(read->report == "<a/>");
}

TEST_CASE("a message about a sanitizer that is no report is refused") {
  CHECK_FALSE(parse_sanitized(frame_with({{"type", "launched"}, {"exit_status", 0}})));
  CHECK_FALSE(parse_sanitized(frame_with({{"type", "sanitized"}})));
  CHECK_FALSE(parse_sanitized(frame_with({{"type", "sanitized"}, {"exit_status", -1}})));
  CHECK_FALSE(parse_sanitized(frame_with({{"type", "sanitized"}, {"exit_status", 0}},
                                         std::string(kMaxSanitizerReportBytes + 1, 'x'))));
}

TEST_CASE("every tool of the sanitizer has one name that reads back") {
  for (const SanitizerTool tool : kSanitizerTools)
    CHECK(sanitizer_tool_from(to_string(tool)) == tool);
  CHECK_FALSE(sanitizer_tool_from("leakcheck"));
}
