#include "base/text.h"

#include <cstdint>
#include <limits>
#include <set>

#include "tests/catch.h"

namespace assay {

TEST_CASE("text: join") {
  CHECK(join(std::vector<std::string>{}).empty());
  CHECK(join(std::vector<std::string>{"a"}) == "a");
  CHECK(join(std::set<std::string>{"b", "a"}, "/") == "a/b");
  CHECK(join(std::vector<std::string>{"", "", "c"}, ",") == ",,c");
  struct Entry {
    std::string name;
  };
  CHECK(join(std::vector<Entry>{{"a"}, {"b"}}, ", ", &Entry::name) == "a, b");
  CHECK(join(std::vector<int>{1, 2}, " ", [](int n) { return std::to_string(n); }) == "1 2");
}

TEST_CASE("text: split leaves empty parts out") {
  CHECK(split("", ",").empty());
  CHECK(split(",,", ",").empty());
  CHECK(split(" a,b ,, c", " ,") == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("text: grouped digits") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-123) == "-123");
  CHECK(grouped(std::int64_t{-1234567}) == "-1,234,567");
  CHECK(grouped(std::numeric_limits<std::uint64_t>::max()) == "18,446,744,073,709,551,615");
}

}  // namespace assay
