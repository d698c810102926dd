#include "sandbox/jail/mount_table.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("mount table: fields, escapes and short lines") {
  const std::vector<Mount> mounts = parse_mounts(
      "none /tmp/a\\040b\\011c\\012d\\134e tmpfs rw,nosuid 0 0\n"
      "short line\n"
      " /no/source tmpfs rw\n"
      "cgroup /it's/cpu cgroup rw,cpu,cpuacct 0 0\n"
      "none /not\\9escaped\\04 proc rw 0 0\n");
  REQUIRE(mounts.size() == 4);
  CHECK(mounts[0].target == "/tmp/a b\tc\nd\\e");
  CHECK(mounts[0].type == "tmpfs");
  CHECK(mounts[0].options == "rw,nosuid");
  CHECK(mounts[1].target == "/no/source");
  CHECK(mounts[1].options == "rw");
  CHECK(mounts[2].target == "/it's/cpu");
  CHECK(mounts[2].options == "rw,cpu,cpuacct");
  CHECK(mounts[3].target == "/not\\9escaped\\04");
  CHECK(parse_mounts("").empty());
}
