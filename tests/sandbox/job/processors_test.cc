#include "sandbox/job/processors.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("only the processors that the kernel allows are counted") {
  int allowed = 0;
  bool bound = false;
  std::thread([&] {  // the affinity of a thread, so that other tests keep theirs
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return;
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    bound = ::sched_setaffinity(0, sizeof set, &set) == 0;
    allowed = usable_processors();
  })
      .join();
  REQUIRE(bound);
  CHECK(allowed == 1);
  CHECK(usable_processors() >= 1);
}

TEST_CASE("a limit of a control group, or of one above it, counts") {
  const std::filesystem::path top =
      std::filesystem::temp_directory_path() / ("assay-processors-" + std::to_string(::getpid()));
  const std::filesystem::path group = top / "pod/worker";
  std::filesystem::create_directories(group);
  const auto write = [](const std::filesystem::path& folder, const std::string& text) {
    std::ofstream(folder / "cpu.max") << text;
  };
  CHECK(limited_processors(group, top, 64) == 64);
  write(group, "max 100000\n");
  CHECK(limited_processors(group, top, 64) == 64);
  write(top / "pod", "350000 100000\n");
  CHECK(limited_processors(group, top, 64) == 4);
  write(group, "200000 100000\n");
  CHECK(limited_processors(group, top, 64) == 2);
  CHECK(limited_processors(group, top, 1) == 1);
  write(group, "no number\n");
  CHECK(limited_processors(group, top, 64) == 4);
  std::filesystem::remove_all(top);
}

TEST_CASE("the control group of version 2 is found among those of version 1") {
  CHECK(unified_group("0::/a/b\n") == "/a/b");
  CHECK(unified_group("12:cpu:/x\n1:name=systemd:/y\n0::/\n") == "/");
  CHECK(unified_group("12:cpu:/x\n").empty());
  CHECK(unified_group("").empty());
}
