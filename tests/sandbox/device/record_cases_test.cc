#include "sandbox/device/record_cases.h"

#include <algorithm>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

PreparedCase vector_of(std::int64_t n) {
  PreparedCase one;
  Argument x;
  x.name = "x";
  x.dtype = "float32";
  x.shape = {n};
  x.strides = {1};
  one.arguments = {x};
  return one;
}

PreparedCase with_scalar(std::int64_t value) {
  PreparedCase one = vector_of(64);
  Argument scalar;
  scalar.name = "k";
  scalar.is_tensor = false;
  scalar.scalar_type = "int";
  scalar.value = value;
  one.arguments.push_back(scalar);
  return one;
}

using Parts = std::vector<std::vector<std::size_t>>;

Parts deal(std::vector<PreparedCase> cases, std::size_t parts) {
  PreparedJob prepared;
  prepared.cases = std::move(cases);
  return deal_cases(prepared.cases, all_cases(prepared), parts);
}

}  // namespace

TEST_CASE("cases that are specialised alike are recorded by one candidate") {
  CHECK(deal({vector_of(1024), vector_of(1000003), vector_of(4096), vector_of(77)}, 2) == Parts{{0, 2}, {1, 3}});
  CHECK(deal({vector_of(64), vector_of(1), vector_of(128), vector_of(1)}, 2) == Parts{{0, 2}, {1, 3}});
  CHECK(deal({with_scalar(16), with_scalar(3), with_scalar(32), with_scalar(5)}, 2) == Parts{{0, 2}, {1, 3}});
  PreparedCase half = vector_of(64);
  half.arguments[0].dtype = "float16";
  CHECK(deal({vector_of(64), half, vector_of(64), half}, 2) == Parts{{0, 2}, {1, 3}});
}

TEST_CASE("parts are of nearly equal size, hold every case once, and begin with the first") {
  std::vector<PreparedCase> cases;
  for (std::size_t count = 1; count <= 9; ++count) {
    cases.push_back(vector_of(count % 3 == 0 ? 48 : 7));
    for (std::size_t parts = 1; parts <= 12; ++parts) {
      const Parts dealt = deal(cases, parts);
      CHECK(dealt.size() == std::min(parts, count));
      CHECK(dealt.front().front() == 0);
      std::vector<std::size_t> all;
      for (const auto& part : dealt) {
        CHECK(std::is_sorted(part.begin(), part.end()));
        CHECK(part.size() >= count / dealt.size());
        CHECK(part.size() <= count / dealt.size() + 1);
        all.insert(all.end(), part.begin(), part.end());
      }
      std::sort(all.begin(), all.end());
      CHECK(all.size() == count);
      CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
    }
  }
}

TEST_CASE("no case is no part of its own") {
  CHECK(deal({}, 2) == Parts{{}});
  CHECK(deal({vector_of(1)}, 0) == Parts{{0}});
}

TEST_CASE("a part of the cases is dealt by their indices") {
  const std::vector<PreparedCase> cases = {vector_of(16), vector_of(7), vector_of(32), vector_of(9), vector_of(48)};
  CHECK(deal_cases(cases, {1, 2, 3, 4}, 2) == Parts{{1, 3}, {2, 4}});
}
