// Runs launchers inside a stand-in for Nsight Compute. The stand-in starts programs in the same way
// as the real ncu.
#include "sandbox/launcher/process/ncu.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/catch.h"
#include "tests/sandbox/launcher/launcher_process.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kCountedFloats = 100;

/// An installation of the stand-in, with the same folders as a real installation.
class Installation {
 public:
  Installation() {
    std::string pattern = "/tmp/assay-ncu-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    const std::filesystem::path built = ASSAY_STAND_IN_DIR;
    std::filesystem::create_directories(platform());
    std::filesystem::create_directories(root_ / "sections");
    for (const char* name : {"ncu", "libinjection.so"})
      std::filesystem::copy(built / name, platform() / name);
    // Inside the jail, the user is `nobody`.
    std::filesystem::permissions(root_, std::filesystem::perms(0755));
  }
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;
  ~Installation() { std::filesystem::remove_all(root_); }

  const std::filesystem::path& root() const { return root_; }
  std::string ncu() const { return platform() / "ncu"; }

 private:
  std::filesystem::path platform() const { return root_ / "target" / "linux"; }
  std::filesystem::path root_;
};

bool contains(const std::vector<std::string>& list, const std::string& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

}  // namespace

TEST_CASE(
    "a launcher serves inside a stand-in for Nsight Compute, and both end when the socket is "
    "closed") {
  const Installation installation;
  test::LauncherProcess launcher("fake", 20'000, {"--counters", installation.ncu()});
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kCountedFloats);
  test::check_sums(one, one.run(launcher, test::vector_add_plan(kCountedFloats)));
  launcher.close_socket();
  const int status = launcher.reap();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("if ncu lacks a file, it fails by itself, and no launcher reports that it is ready") {
  const Installation installation;
  std::filesystem::remove(installation.root() / "sections");
  test::LauncherProcess launcher("fake", 20'000, {"--counters", installation.ncu()});
  CHECK_FALSE(launcher.receive());
  // The stand-in for ncu exits with 70 if one of its steps is refused (stand_in/ncu.cc).
  CHECK(WEXITSTATUS(launcher.reap()) == 70);
}

TEST_CASE(
    "the jail shows the installation of ncu, or the folder of the program, or nothing below /usr") {
  CHECK(contains(ncu_folders("/somewhere/ncu-2025/target/linux/ncu"), "/somewhere/ncu-2025"));
  CHECK(contains(ncu_folders("/somewhere/ncu-2025/ncu"), "/somewhere/ncu-2025"));
  CHECK_FALSE(contains(ncu_folders("/usr/lib/ncu/target/linux/ncu"), "/usr/lib/ncu"));
}

TEST_CASE("the error names a launcher that ncu could not start") {
  const Status become = become_ncu("/bin/true", "/nowhere/assay-launcher", {});
  REQUIRE_FALSE(become);
  CHECK(become.error().message.find("/nowhere/assay-launcher") != std::string::npos);
}
