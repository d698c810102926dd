#include "operators/search/similar_code.h"

#include "tests/catch.h"

using assay::operators::SimilarCode;

namespace {
constexpr const char* kHead = "i = tl.program_id(0) * B + tl.arange(0, B)\nx = tl.load(p + i)\n";
}

TEST_CASE("what texts do not share decides") {
  const std::string scan = std::string(kHead) + "y = tl.associative_scan(x, 0, add)\n";
  const std::string sort = std::string(kHead) + "y = tl.where(x < z, tl.minimum(x, z), 0)\n";
  const std::string other = std::string(kHead) + "tl.atomic_add(q + i, x, mask=x > 3)\n";
  const SimilarCode similar({scan, sort, other});
  const auto hits = similar.nearest("b = tl.associative_scan(a, 0, combine)", 3);
  REQUIRE(hits.size() == 1);
  CHECK(hits[0].index == 0);
  const auto whole = similar.nearest(sort, 3);
  REQUIRE(whole.size() == 3);
  CHECK(whole[0].index == 1);
  CHECK(whole[0].score == Approx(1));
  CHECK(whole[1].score < 0.7);
  CHECK(similar.nearest(sort, 2).size() == 2);
}

TEST_CASE("nothing shared is no hit") {
  const SimilarCode similar({"a = b + c * d", ""});
  CHECK(similar.nearest("while True: pass; break", 3).empty());
  CHECK(similar.nearest("", 3).empty());
  CHECK(SimilarCode({}).nearest("a = b + c", 3).empty());
}
