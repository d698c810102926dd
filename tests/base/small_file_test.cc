#include "base/small_file.h"

#include "tests/catch.h"

using namespace assay;

TEST_CASE("a kernel file is read whole, or up to the limit, or not at all") {
  CHECK(read_small_file("/proc/self/status").find("\nPid:") != std::string::npos);
  CHECK(read_small_file("/proc/self/status", 5).size() == 5);
  CHECK(read_small_file("/nonexistent").empty());
}
