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

namespace {

/// A folder that plays the mount of a hierarchy, and is removed at the end.
struct Hierarchy {
  explicit Hierarchy(const std::string& name)
      : top(std::filesystem::temp_directory_path() /
            ("assay-processors-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(top / "pod/worker");
  }
  ~Hierarchy() { std::filesystem::remove_all(top); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(top / file) << text;
  }
  OwnGroup own(bool version2) const { return {top.string(), "/pod/worker", version2}; }

  std::filesystem::path top;
};

}  // namespace

TEST_CASE("a limit of a control group of version 2, or of one above it, counts") {
  const Hierarchy unified("2");
  const auto limited = [&](int otherwise) {
    return limited_processors({unified.own(true)}, otherwise);
  };
  CHECK(limited(64) == 64);
  unified.write("pod/worker/cpu.max", "max 100000\n");
  CHECK(limited(64) == 64);
  unified.write("pod/cpu.max", "350000 100000\n");
  CHECK(limited(64) == 4);
  unified.write("pod/worker/cpu.max", "200000 100000\n");
  CHECK(limited(64) == 2);
  CHECK(limited(1) == 1);
  unified.write("pod/worker/cpu.max", "no number\n");
  CHECK(limited(64) == 4);
}

TEST_CASE("a limit of a control group of version 1, or of one above it, counts") {
  const Hierarchy cpu("1");
  const auto limited = [&] { return limited_processors({cpu.own(false)}, 64); };
  cpu.write("pod/worker/cpu.cfs_period_us", "100000\n");
  cpu.write("pod/worker/cpu.cfs_quota_us", "-1\n");
  CHECK(limited() == 64);
  cpu.write("cpu.cfs_period_us", "50000\n");
  cpu.write("cpu.cfs_quota_us", "420000\n");
  CHECK(limited() == 9);
  cpu.write("pod/worker/cpu.cfs_quota_us", "150000\n");
  CHECK(limited() == 2);
}

TEST_CASE("on a hybrid machine the hierarchy with the controller counts") {
  const Hierarchy cpu("hybrid-1"), unified("hybrid-2");
  cpu.write("pod/cpu.cfs_period_us", "100000\n");
  cpu.write("pod/cpu.cfs_quota_us", "300000\n");
  const GroupTables tables{.mounts = "cgroup " + cpu.top.string() +
                                     " cgroup rw,nosuid,cpu,cpuacct 0 0\ncgroup2 " +
                                     unified.top.string() + " cgroup2 rw 0 0\n",
                           .groups = "4:cpu,cpuacct:/pod/worker\n0::/pod\n"};
  CHECK(limited_processors(own_groups("cpu", tables), 64) == 3);
}

TEST_CASE("in a container the mount is the process's own group") {
  const Hierarchy cpu("container");
  cpu.write("cpu.cfs_period_us", "100000\n");
  cpu.write("cpu.cfs_quota_us", "500000\n");
  CHECK(limited_processors({{cpu.top.string(), "/docker/4711", false}}, 64) == 5);
}
