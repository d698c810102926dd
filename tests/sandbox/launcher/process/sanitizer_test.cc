#include "sandbox/launcher/process/sanitizer.h"

#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "sandbox/launcher/process/tool.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/launcher_process.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/sanitize/sanitizer_script.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kWatchedFloats = 100;

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " " + word;
  return line;
}

}  // namespace

TEST_CASE("a launcher serves inside the sanitizer, and its report comes after the launches") {
  const testing::SanitizerScript script;
  script.set_records(SanitizerTool::initcheck, testing::kUnwritten);
  test::LauncherProcess launcher("fake", 20'000,
                                 {"--sanitizer", script.path(), "--tool", "initcheck"});
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kWatchedFloats);
  one.send(launcher, encode_plan(test::vector_add_plan(kWatchedFloats)));
  const Result<Frame> launched = launcher.receive();
  REQUIRE(launched);
  CHECK(launched->type() == "launched");
  CHECK(launched->header["outputs"].empty());  // such a run is never judged
  REQUIRE(::shutdown(launcher.socket(), SHUT_WR) == 0);
  const Result<Frame> last = launcher.receive();
  REQUIRE(last);
  const Result<Sanitized> sanitized = parse_sanitized(*last);
  REQUIRE(sanitized);
  CHECK(sanitized->exit_status == 0);
  CHECK(sanitized->report == testing::report_of(testing::kUnwritten));
  const int status = launcher.reap();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a launcher under a sanitizer times nothing") {
  const testing::SanitizerScript script;
  test::LauncherProcess launcher("fake", 20'000,
                                 {"--sanitizer", script.path(), "--tool", "memcheck"});
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kWatchedFloats);
  one.time = true;
  one.send(launcher, encode_plan(test::vector_add_plan(kWatchedFloats)));
  const Result<Frame> refused = launcher.receive();
  REQUIRE(refused);
  CHECK(refused->type() == "launch_error");
  CHECK(refused->header["kind"] == "internal_error");
}

TEST_CASE("each tool gets its options before the launcher") {
  for (const SanitizerTool tool : kSanitizerTools) {
    const std::vector<std::string> words = sanitizer_words(
        {.sanitizer = "/s", .tool = tool, .launcher = "/l", .arguments = {"--confined"}}, "/r.xml");
    CHECK(words.front() == "/s");
    CHECK(joined(words).find(" --tool " + std::string(to_string(tool)) +
                             " --xml --save /r.xml --print-limit 100") == 3);
    CHECK(joined(words).ends_with(" /l --confined"));
  }
  const auto line_of = [](SanitizerTool tool) {
    return joined(sanitizer_words({.sanitizer = "/s", .tool = tool, .launcher = "/l"}, "/r"));
  };
  CHECK(line_of(SanitizerTool::memcheck).find("--padding 4096") != std::string::npos);
  CHECK(line_of(SanitizerTool::memcheck).find("--report-api-errors no") != std::string::npos);
  CHECK(line_of(SanitizerTool::initcheck).find("--check-api-memory-access no") !=
        std::string::npos);
  CHECK(line_of(SanitizerTool::racecheck).find("--racecheck-report analysis") != std::string::npos);
}

TEST_CASE("the jail shows the folder of the sanitizer, or nothing below /usr") {
  CHECK(sanitizer_folders("/opt/x/compute-sanitizer") == std::vector<std::string>{"/opt/x"});
  CHECK(sanitizer_folders("/usr/local/cuda-13/bin/compute-sanitizer").empty());
  CHECK(parent_folder("/program") == "/");
}

TEST_CASE("a sanitizer that cannot be started leaves no report and an exit status") {
  const Result<Sanitized> ended = run_sanitizer(
      {.sanitizer = "/nowhere/compute-sanitizer", .launcher = "/bin/true", .arguments = {}});
  REQUIRE(ended);
  CHECK(ended->report.empty());
  CHECK(ended->exit_status == 127);
}
