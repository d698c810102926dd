#include "sandbox/jail/own_groups.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("the groups of a machine with version 2 only") {
  const GroupTables tables{.mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
                           .groups = "0::/user.slice/a:b\n"};
  CHECK(own_groups("cpu", tables) ==
        std::vector<OwnGroup>{{"/sys/fs/cgroup", "/user.slice/a:b", true}});
  CHECK(own_groups("cpu", {.mounts = tables.mounts, .groups = ""}).at(0).group == "/");
}

TEST_CASE("the hierarchy of version 1 for the controller comes before that of version 2") {
  const GroupTables tables{
      .mounts =
          "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
          "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
          "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n",
      .groups = "12:memory:/m\n3:cpu,cpuacct:/x\n1:name=systemd:/y\n0::/u\nno line\n"};
  CHECK(own_groups("cpu", tables) ==
        std::vector<OwnGroup>{{"/sys/fs/cgroup/cpu,cpuacct", "/x", false},
                              {"/sys/fs/cgroup/unified", "/u", true}});
  CHECK(own_groups("cpuset", tables) ==
        std::vector<OwnGroup>{{"/sys/fs/cgroup/unified", "/u", true}});
  CHECK(own_groups("cpu", {}).empty());
}

TEST_CASE("a group that this process does not see is the top of its hierarchy") {
  CHECK(OwnGroup{"/tmp", "/no such group", false}.folder() == "/tmp");
  CHECK(OwnGroup{"/tmp", "/", true}.folder() == "/tmp");
  CHECK(OwnGroup{"/", "tmp", true}.folder() == "/tmp");
}

TEST_CASE("a word is found only as a whole") {
  CHECK(has_word("rw,cpu,cpuacct", "cpu", ','));
  CHECK(has_word("cpu", "cpu", ','));
  CHECK_FALSE(has_word("rw,cpuset", "cpu", ','));
  CHECK_FALSE(has_word("", "cpu", ','));
}
