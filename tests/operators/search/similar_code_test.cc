#include "operators/search/similar_code.h"

#include <algorithm>
#include <string>

#include "tests/catch.h"

using assay::operators::code_grams;
using assay::operators::SimilarCode;

namespace {

constexpr const char* kHead = "i = tl.program_id(0) * B + tl.arange(0, B)\nx = tl.load(p + i)\n";

}  // namespace

TEST_CASE("code that few texts share decides the order") {
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

TEST_CASE("a text that shares nothing is not a hit") {
  const SimilarCode similar({"a = b + c * d", ""});
  CHECK(similar.nearest("while True: pass; break", 3).empty());
  CHECK(similar.nearest("", 3).empty());
  CHECK(SimilarCode({}).nearest("a = b + c", 3).empty());
}

TEST_CASE("names, comments, layout and docstrings do not change the grams") {
  const auto plain = code_grams("def f(x, n):\n    y = tl.load(x + n)\n    return y * 2\n");
  CHECK(plain.size() > 10);
  CHECK(plain == code_grams("\"\"\"Doc, with # and ' in it.\"\"\"\ndef  g(left,right) :  # why\n\n "
                            " out = tl.load(left\n + right)\n  return out*2"));
  CHECK(std::is_sorted(plain.begin(), plain.end()));
}

TEST_CASE("numbers, strings, operators, keywords and members change the grams") {
  const auto plain = code_grams("y = tl.exp(x + 1, 'a') if x");
  for (const char* other : {"y = tl.exp(x + 2, 'a') if x", "y = tl.log(x + 1, 'a') if x",
                            "y = tl.exp(x - 1, 'a') if x", "y = tl.exp(x + 1, 'b') if x",
                            "y = tl.exp(x + 1, 'a') or x", "y = tl.exp(x + x, 'a') if x"}) {
    INFO(other);
    CHECK(code_grams(other) != plain);
  }
}

TEST_CASE("a piece of code has the same grams anywhere in a text") {
  const auto whole = code_grams("a = b + c\nfor i in range(d):\n    a += tl.sum(e, 0)\n");
  const auto piece = code_grams("for step in range(count):\n    total += tl.sum(part, 0)\n");
  CHECK(std::includes(whole.begin(), whole.end(), piece.begin(), piece.end()));
}

TEST_CASE("any bytes are accepted") {
  CHECK(code_grams("").empty());
  CHECK(code_grams("a b c d").empty());
  CHECK(code_grams("a b c d e").size() == 1);
  CHECK_FALSE(code_grams("x = 'unfinished\ny = 2 + 3").empty());
  code_grams("\"\"\"never closed");
  code_grams("'\\");
  code_grams(std::string("\0\xff\\\n\"", 5));
}
