#include "sandbox/pool/zygote.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::real_config;

namespace {

/// A zygote that answers each request for a child after so long, with a descriptor that is none of
/// a process.
SandboxConfig slow_zygote(const std::string& seconds) {
  SandboxConfig config = real_config();
  const std::string script = config.state_dir + "/slow-zygote-" + seconds + ".py";
  std::ofstream(script) << "#!" << config.python << R"(
import os, sys, time
sys.path.insert(0, ")" << std::filesystem::path(config.harness_dir).parent_path().string()
                        << R"(")
from harness.wire.frames import Channel
channel = Channel.from_fd(int(sys.argv[sys.argv.index("--keep-fd") + 1]))
channel.send({"type": "ready", "torch": "", "triton": "", "python": "", "nvrtc": "", "layers": [], "threads": 1})
for frame in channel:
    time.sleep()" << seconds
                        << R"()
    channel.send({"type": "forked", "slot": frame.header["slot"]}, fds=[os.open("/dev/null", os.O_RDONLY)])
)";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  config.jail_exec = script;
  return config;
}

std::unique_ptr<Zygote> started(Spawner& spawner, const SandboxConfig& config) {
  Result<std::unique_ptr<Zygote>> zygote =
      Zygote::start(config, spawner, Deadline::after_ms(20'000));
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
    "a zygote that misses a deadline is asked no more: its late answer would be taken for the next "
    "child's") {
  Spawner spawner;
  const auto zygote = started(spawner, slow_zygote("1.0"));
  const Result<UniqueFd> late = fork(*zygote, Deadline::after_ms(200));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::resource_exhausted);
  CHECK_FALSE(zygote->alive());
  CHECK_FALSE(fork(*zygote, Deadline::after_ms(5'000)));
}

TEST_CASE("who is cancelled while a child is being made leaves the zygote to the others") {
  Spawner spawner;
  const auto zygote = started(spawner, slow_zygote("0.2"));
  std::stop_source cancel;
  cancel.request_stop();
  CHECK(fork(*zygote, Deadline::after_ms(5'000, cancel.get_token())));
  CHECK(zygote->alive());
}
