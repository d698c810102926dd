#include "base/handle.h"

#include <set>

#include "tests/catch.h"

using namespace assay;

TEST_CASE("handles are distinct, prefixed and recognised") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string handle = new_handle("run");
    CHECK(is_handle(handle, "run"));
    CHECK_FALSE(is_handle(handle, "job"));
    seen.insert(handle);
  }
  CHECK(seen.size() == 1000);
}

TEST_CASE("a text that is not a handle is not recognised as one") {
  const std::string handle = new_handle("job");
  CHECK_FALSE(is_handle(handle + "0", "job"));
  CHECK_FALSE(is_handle(handle.substr(0, handle.size() - 1), "job"));
  CHECK_FALSE(is_handle("job_../../../../etc/passwd0000", "job"));
  CHECK_FALSE(is_handle("", "job"));
}

TEST_CASE("sha256 agrees with the published vectors") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
