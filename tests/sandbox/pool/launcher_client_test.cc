#include "sandbox/pool/launcher_client.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using assay::sandbox::testing::real_config;

namespace {

/// A folder that contains a script in place of ncu. Every user may run the script, because the
/// launcher changes its user inside the jail.
class Script {
 public:
  explicit Script(const std::string& text) {
    std::string pattern = "/tmp/assay-script-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    std::ofstream(folder_ / "ncu") << "#!/bin/sh\n" << text;
    for (const auto& path : {folder_, folder_ / "ncu"})
      std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  ~Script() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "ncu"; }

 private:
  std::filesystem::path folder_;
};

std::string why_not_ready(const std::string& script) {
  Spawner spawner;
  const Script ncu(script);
  const auto launcher = LauncherClient::start(
      real_config(), spawner, {.driver = "fake", .ncu = ncu.path()}, Deadline::after_ms(60'000));
  REQUIRE_FALSE(launcher);
  return launcher.error().message;
}

}  // namespace

TEST_CASE(
    "the error for a profiler that does not start its launcher has its exit status and its "
    "output") {
  const std::string message = why_not_ready(
      "echo '==WARNING== no home'\necho 'loader: no libx.so' >&2\necho '==ERROR== Launching the "
      "target application failed.'\nexit 3\n");
  INFO(message);
  CHECK(message.starts_with("the launcher did not become ready: exit status 3: "));
  CHECK(
      message.ends_with("==ERROR== Launching the target application failed. | ==WARNING== no home "
                        "| loader: no libx.so"));
}

TEST_CASE("no launcher writes to the log of another live launcher") {
  Spawner spawner;
  const auto start = [&] {
    return LauncherClient::start(real_config(), spawner, {.driver = "fake"},
                                 Deadline::after_ms(60'000))
        .value();
  };
  const std::unique_ptr<LauncherClient> old = start();
  std::set<std::string> logs;
  for (int i = 0; i < 20; ++i) logs.insert(start()->log());
  CHECK(logs.count(old->log()) == 0);
  CHECK(logs.size() <= 8);
}

TEST_CASE("the output of a profiler is bounded in the message") {
  const std::string message = why_not_ready(
      "i=0; while [ $i -lt 5000 ]; do echo '==PROF== again and again'; i=$((i+1)); done\nexit 1\n");
  CHECK(message.size() > kNcuMessagesBytes);
  CHECK(message.size() < kNcuMessagesBytes + 100);
}

using namespace assay::sandbox;

TEST_CASE("in the excerpt of a profiler's log errors come first, and the report is left out") {
  const std::string log =
      "==WARNING== no home\r\n"
      "\n"
      "\"ID\",\"Kernel Name\"\n"
      "ld.so: cannot open libx.so\n"
      "==ERROR== Launching the target application failed.\n"
      "assay-launcher: execv: Permission denied";
  CHECK(ncu_messages(log) ==
        "==ERROR== Launching the target application failed. | assay-launcher: execv: Permission "
        "denied | ==WARNING== no home | ld.so: cannot open libx.so");
  CHECK(ncu_messages("").empty());
  CHECK(ncu_messages("\"a\",\"b\"\n").empty());
}

TEST_CASE(
    "the excerpt of a profiler's log is bounded and has an error from the end of a long log") {
  std::string log;
  for (int i = 0; i < 10'000; ++i) log += "==PROF== Profiling \"kernel\"\n";
  log += "==ERROR== out of memory\n";
  const std::string words = ncu_messages(log);
  CHECK(words.size() == kNcuMessagesBytes);
  CHECK(words.starts_with("==ERROR== out of memory | ==PROF=="));
  CHECK(words.ends_with("..."));
}
