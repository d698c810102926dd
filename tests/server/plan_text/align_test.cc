#include "server/plan_text/align.h"

#include "tests/catch.h"

using namespace assay::server;

TEST_CASE("what is in both lists stands beside each other, the rest alone") {
  CHECK(align({}, {}).empty());
  CHECK(align({"a", "b"}, {"a", "b"}) == std::vector<Aligned>{{0, 0}, {1, 1}});
  CHECK(align({"a", "b"}, {"b", "c"}) ==
        std::vector<Aligned>{{0, std::nullopt}, {1, 0}, {std::nullopt, 1}});
  CHECK(align({"a"}, {"a", "a", "a"}).size() == 3);
}

TEST_CASE("every position comes once and in order, whatever the lists") {
  const std::vector<std::string> left = {"k", "f", "k", "c", "k", "x"};
  const std::vector<std::string> right = {"f", "k", "k", "y", "c"};
  for (const auto& [a, b] : {std::pair(left, right), std::pair(right, left),
                             std::pair(left, std::vector<std::string>{})}) {
    std::size_t i = 0;
    std::size_t j = 0;
    for (const Aligned& pair : align(a, b)) {
      if (pair.left) CHECK(*pair.left == i++);
      if (pair.right) CHECK(*pair.right == j++);
      if (pair.left && pair.right) CHECK(a[*pair.left] == b[*pair.right]);
    }
    CHECK(i == a.size());
    CHECK(j == b.size());
  }
}
