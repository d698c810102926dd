#include "sandbox/launcher/process/arguments.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("the launcher's device is a number, or a driver and a number") {
  const LauncherArguments plain =
      parse_launcher_arguments({"--socket-fd", "3", "--device", "1"}).value();
  CHECK((plain.socket == 3 && plain.device == 1 && plain.driver == "cuda" && !plain.strict &&
         plain.ncu.empty() && !plain.probe));
  CHECK(parse_launcher_arguments({"--socket-fd", "3", "--device", "cuda:2"}).value().device == 2);
  const LauncherArguments hip =
      parse_launcher_arguments({"--device", "hip:1", "--socket-fd", "3"}).value();
  CHECK((hip.driver == "hip" && hip.device == 1));
  CHECK(parse_launcher_arguments({"--socket-fd", "3", "--device", "0", "--isolation", "strict"})
            .value()
            .strict);
  CHECK(parse_launcher_arguments({"--probe", "--driver", "fake"}).value().probe);
  CHECK(parse_launcher_arguments({"--socket-fd", "3", "--device", "0", "--counters", "/bin/sh"})
            .value()
            .ncu.starts_with("/"));
  const LauncherArguments counted =
      parse_launcher_arguments(
          {"--socket-fd", "3", "--device", "0", "--rocprof", "/bin/sh", "--pass", "2"})
          .value();
  CHECK(counted.rocprof.starts_with("/"));
  CHECK(counted.pass == 2);
  const LauncherArguments watched =
      parse_launcher_arguments(
          {"--socket-fd", "3", "--device", "0", "--sanitizer", "/bin/sh", "--tool", "racecheck"})
          .value();
  CHECK(watched.sanitizer.starts_with("/"));
  CHECK(watched.tool == SanitizerTool::racecheck);
}

TEST_CASE("the launcher names what is wrong with an argument") {
  const auto error_of = [](const std::vector<std::string>& words) {
    const Result<LauncherArguments> parsed = parse_launcher_arguments(words);
    return parsed ? std::string() : parsed.error().message;
  };
  CHECK(error_of({}) == "--socket-fd and --device are needed");
  CHECK(error_of({"--device", "0"}) == "--socket-fd and --device are needed");
  CHECK(error_of({"--device"}) == "--device needs a value");
  CHECK(error_of({"--device", "-1"}) == "--device '-1' is no number from 0 up");
  CHECK(error_of({"--device", "cuda:x"}) == "--device 'x' is no number from 0 up");
  CHECK(error_of({"--driver", "metal", "--probe"}) ==
        "driver 'metal' is unknown; valid: cuda, hip, emulated, fake, fake-sick, fake-full");
  CHECK(error_of({"--isolation", "some", "--probe"}) ==
        "isolation 'some' is unknown; valid: strict, best_effort");
  CHECK(error_of({"--tool", "leakcheck", "--probe"}) ==
        "tool 'leakcheck' is unknown; valid: memcheck, racecheck, initcheck, synccheck");
  CHECK(error_of({"--sanitizer", "/bin/sh", "--socket-fd", "3", "--device", "0"}) ==
        "--sanitizer needs --tool, and excludes --counters");
  CHECK(error_of({"--counters", "ncu", "--probe"}) ==
        "--counters 'ncu' is not the absolute path of a program");
  CHECK(error_of({"--counters", "/no/such/ncu", "--probe"}) ==
        "--counters '/no/such/ncu' is not the absolute path of a program");
  CHECK(error_of({"--rocprof", "rocprofv3", "--probe"}) ==
        "--rocprof 'rocprofv3' is not the absolute path of a program");
  CHECK(error_of({"--pass", "3", "--probe"}) == "--pass 3 does not exist; valid: 0 to 2");
  CHECK(error_of({"--socket-fd", "3", "--device", "0", "--rocprof", "/bin/sh", "--counters",
                  "/bin/sh"}) == "--rocprof excludes --counters and --sanitizer");
  CHECK(error_of({"--what"}) == "argument '--what' is unknown");
}
