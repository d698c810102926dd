// Runs launchers inside a stand-in for AMD's rocprofv3: a script that starts its program and then
// writes the file of counters where the real one writes it.
#include "sandbox/launcher/process/rocprof.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/sandbox/launcher/launcher_process.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kProfiledFloats = 100;
const std::string kRocprofScript =
    "#!/bin/sh\n"
    "folder= name= counters= listing=\n"
    "while [ \"$1\" != -- ]; do\n"
    "  case $1 in\n"
    "    --pmc) listing=1 ;;\n"
    "    --output-directory) folder=$2; shift; listing= ;;\n"
    "    --output-file) name=$2; shift; listing= ;;\n"
    "    --*) listing= ;;\n"
    "    *) [ -n \"$listing\" ] && counters=\"$counters $1\" ;;\n"
    "  esac\n"
    "  shift\n"
    "done\n"
    "shift\n"
    // The jail denies ptrace, by which the address sanitizer looks for leaks.
    "ASAN_OPTIONS=detect_leaks=0 \"$@\" || exit 70\n"
    "echo \"Counter_Name:$counters\" >\"$folder/${name}_counter_collection.csv\"\n";

class RocmFolder {
 public:
  explicit RocmFolder(const std::string& script) {
    std::string pattern = "/tmp/assay-rocm-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    std::filesystem::create_directories(root_ / "bin");
    std::ofstream(rocprof()) << script;
    std::filesystem::permissions(rocprof(), std::filesystem::perms(0755));
    // Inside the jail, the user is `nobody`.
    std::filesystem::permissions(root_, std::filesystem::perms(0755));
  }
  RocmFolder(const RocmFolder&) = delete;
  RocmFolder& operator=(const RocmFolder&) = delete;
  ~RocmFolder() { std::filesystem::remove_all(root_); }

  std::string rocprof() const { return root_ / "bin/rocprofv3"; }

 private:
  std::filesystem::path root_;
};

}  // namespace

TEST_CASE("a launcher serves inside a stand-in for rocprofv3, and prints its counters") {
  const RocmFolder rocm(kRocprofScript);
  const std::string printed = rocm.rocprof() + ".out";
  test::LauncherProcess launcher("fake", 20'000, {"--rocprof", rocm.rocprof(), "--pass", "2"},
                                 test::launcher_path(), printed);
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kProfiledFloats);
  test::check_sums(one, one.run(launcher, test::vector_add_plan(kProfiledFloats)));
  launcher.close_socket();
  const int status = launcher.reap();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  std::ifstream file(printed);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK(text.find("Counter_Name: WRITE_SIZE TCC_HIT_sum TCC_MISS_sum\n") != std::string::npos);
}

TEST_CASE("a rocprofv3 that fails ends the launcher, and no launcher reports that it is ready") {
  const RocmFolder rocm("#!/bin/sh\nexit 3\n");
  test::LauncherProcess launcher("fake", 20'000, {"--rocprof", rocm.rocprof(), "--pass", "0"});
  CHECK_FALSE(launcher.receive());
  CHECK(WEXITSTATUS(launcher.reap()) == 1);
}

TEST_CASE("the command line of rocprofv3, and the folders that it needs") {
  const std::vector<std::string> words = rocprof_words(
      {"/opt/rocm-6.4.0/bin/rocprofv3", 1, "/usr/bin/launcher", {"--confined"}}, "/tmp/folder");
  CHECK(words == std::vector<std::string>{"/opt/rocm-6.4.0/bin/rocprofv3", "--pmc", "FETCH_SIZE",
                                          "--mangled-kernels", "--kernel-exclude-regex", "^assay_",
                                          "--output-format", "csv", "--output-directory",
                                          "/tmp/folder", "--output-file", "counters", "--",
                                          "/usr/bin/launcher", "--confined"});
  CHECK(rocprof_folders(words.front()) == std::vector<std::string>{"/opt/rocm-6.4.0"});
  CHECK(rocprof_folders("/usr/bin/rocprofv3").empty());
  const Status failed = print_counters({"/bin/true", 0, "/nowhere/assay-launcher", {}});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("rocprofv3 ended with status 127") != std::string::npos);
}
