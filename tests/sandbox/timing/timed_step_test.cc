#include "sandbox/timing/timed_step.h"

#include <string>
#include <vector>

#include "base/json.h"
#include "tests/base/log_file.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("a step of a timing session is in the log of level trace, with the parts of its launch") {
  const assay::testing::LogFile file(log::Level::trace, log::Format::json);
  {
    TimedStep step("softmax", "oracle");
    LaunchParts parts;
    parts[LaunchPart::run] = 8.5;
    parts[LaunchPart::map] = 1.25;
    step.has_launched(parts);
    CHECK(file.lines().empty());  // the step goes on
  }
  const std::vector<std::string> lines = file.lines();
  REQUIRE(lines.size() == 1);
  const nlohmann::json line = nlohmann::json::parse(lines[0]);
  CHECK(line["level"] == "trace");
  CHECK(line["message"] == "timing step");
  CHECK(line["operator"] == "softmax");
  CHECK(line["step"] == "oracle");
  CHECK(line["ms"].get<double>() >= 0);
  CHECK(line["run_ms"] == 8.5);
  CHECK(line["map_ms"] == 1.25);
  CHECK(line["load_ms"] == 0.0);
}

TEST_CASE("the usual log has no steps of timing sessions") {
  const assay::testing::LogFile file(log::Level::debug, log::Format::text);
  { const TimedStep step("softmax", "pytorch"); }
  CHECK(file.text().empty());
}
