#include "sandbox/launcher/process/arguments.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("the launcher's device is a number, or names its driver") {
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
}

TEST_CASE("the launcher names what is wrong with an argument") {
  const auto said = [](const std::vector<std::string>& words) {
    const Result<LauncherArguments> parsed = parse_launcher_arguments(words);
    return parsed ? std::string() : parsed.error().message;
  };
  CHECK(said({}) == "--socket-fd and --device are needed");
  CHECK(said({"--device", "0"}) == "--socket-fd and --device are needed");
  CHECK(said({"--device"}) == "--device needs a value");
  CHECK(said({"--device", "-1"}) == "--device '-1' is no number from 0 up");
  CHECK(said({"--device", "cuda:x"}) == "--device 'x' is no number from 0 up");
  CHECK(said({"--driver", "metal", "--probe"}) ==
        "driver 'metal' is unknown; valid: cuda, hip, fake, fake-sick, fake-full");
  CHECK(said({"--isolation", "some", "--probe"}) ==
        "isolation 'some' is unknown; valid: strict, best_effort");
  CHECK(said({"--counters", "ncu", "--probe"}) == "--counters 'ncu' is no whole path of a program");
  CHECK(said({"--counters", "/no/such/ncu", "--probe"}) ==
        "--counters '/no/such/ncu' is no whole path of a program");
  CHECK(said({"--what"}) == "argument '--what' is unknown");
}
