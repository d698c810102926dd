#include "sandbox/pool/zygote.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <stop_token>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::real_config;

namespace {

/// Returns a configuration with a stand-in for the zygote. The stand-in is a Python script that is
/// ready at once and runs `answer` for each frame that it receives.
SandboxConfig scripted_zygote(const std::string& name, const std::string& answer) {
  SandboxConfig config = real_config();
  const std::string script = config.state_dir + "/" + name + ".py",
                    program = config.state_dir + "/" + name;
  // A JSON string is also a valid Python string.
  const nlohmann::json folder = std::filesystem::path(config.harness_dir).parent_path().string();
  std::ofstream(script) << "import os, sys\nsys.path.insert(0, " << folder.dump() << R"()
from harness.wire.frames import Channel
channel = Channel.from_fd(int(sys.argv[sys.argv.index("--keep-fd") + 1]))
channel.send({"type": "ready", "torch": "", "triton": "", "python": "", "nvrtc": "", "uncompiled": [], "layers": [], "threads": 1})
for frame in channel:
    )" << answer << "\n";
  // A shell starts the script, because a script's first line cannot contain a path with a space.
  std::ofstream(program) << "#!/bin/sh\nexec " << shell_word(config.python) << " "
                         << shell_word(script) << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  config.jail_exec = program;
  return config;
}

/// Python code that answers a request for a child. It sends a descriptor of /dev/null in place of a
/// pidfd.
constexpr const char* kForked =
    "channel.send({'type': 'forked', 'slot': frame.header['slot']},"
    " fds=[os.open('/dev/null', os.O_RDONLY)])";

std::unique_ptr<Zygote> started(Spawner& spawner, const SandboxConfig& config) {
  Result<std::unique_ptr<Zygote>> zygote =
      Zygote::start(config, spawner, Deadline::after_ms(60'000));
  REQUIRE(zygote);
  return std::move(*zygote);
}

Result<UniqueFd> fork(Zygote& zygote, const Deadline& deadline) {
  ForkRequest request;
  request.slot = 3;
  return zygote.fork(request, 0, 1, 2, deadline);
}

}  // namespace

TEST_CASE(
    "a zygote that misses a deadline gets no more requests, because its late answer would be taken "
    "for that of the next child") {
  Spawner spawner;
  const auto zygote = started(spawner, scripted_zygote("silent-zygote", "pass"));
  const Result<UniqueFd> late = fork(*zygote, Deadline::after_ms(200));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::resource_exhausted);
  CHECK_FALSE(zygote->alive());
  CHECK_FALSE(fork(*zygote, Deadline::after_ms(60'000)));
}

TEST_CASE("the end of a zygote is an event, and the calls that wait for it fail") {
  Spawner spawner;
  const auto zygote = started(spawner, scripted_zygote("ending-zygote", "sys.exit()"));
  std::promise<void> ended;
  const std::stop_callback on_end(zygote->ended(), [&] { ended.set_value(); });
  CHECK(zygote->alive());
  const Result<UniqueFd> child = fork(*zygote, Deadline::after_ms(60'000));
  REQUIRE_FALSE(child);
  CHECK(child.error().code == ErrorCode::unavailable);
  CHECK_FALSE(zygote->alive());
  CHECK(ended.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready);
}

TEST_CASE("a cancelled wait for a new child leaves the zygote to the other callers") {
  Spawner spawner;
  const auto zygote = started(spawner, scripted_zygote("answering-zygote", kForked));
  std::stop_source cancel;
  cancel.request_stop();
  CHECK(fork(*zygote, Deadline::after_ms(5'000, cancel.get_token())));
  CHECK(zygote->alive());
}
