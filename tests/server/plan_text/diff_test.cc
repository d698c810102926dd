
#include "server/plan_text/diff.h"

#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay::server;
using namespace assay::sandbox;

namespace {

std::string changed(const Plan& before, const Plan& after) {
  const PlanDiff diff = diff_plans(before, after);
  CHECK(diff.same == diff.text.empty());
  return diff.text;
}

}  // namespace

TEST_CASE("a plan does not differ from itself") {
  CHECK(diff_plans(test::rich_plan(), test::rich_plan()).same);
}

TEST_CASE("another grid and another scalar are changes of one operation") {
  const Plan before = test::vector_add_plan(1000);
  Plan after = before;
  auto& kernel = std::get<KernelOp>(after.ops[0]);
  kernel.grid = {4, 1, 1};
  kernel.params[3] = ScalarParam{4, 500};
  CHECK(changed(before, after) ==
        "operations\n  ~ 0  kernel fake_vector_add: grid 8x1x1 -> 4x1x1; argument 3 1000 (4 bytes) "
        "-> 500 (4 bytes)\n");
}

TEST_CASE(
    "an operation that came in leaves its neighbours alone, and a buffer that came in leaves their "
    "names alone") {
  const Plan before = test::vector_add_plan(1000);
  Plan after = before;
  after.buffers.insert(after.buffers.begin() + 2, PlanBuffer{BufferKind::scratch, 16, "", ""});
  std::get<PointerParam>(std::get<KernelOp>(after.ops[0]).params[2]).buffer = 3;
  after.outputs[0].buffer = 3;
  after.ops.insert(after.ops.begin(), FillOp{2, 0, 4, 4, 0});
  CHECK(changed(before, after) ==
        "buffers\n  + new scratch0: role scratch, bytes 16\n"
        "operations\n  + 0  fill new scratch0: from byte 0, elements 4 of 4 bytes, pattern 0x0\n");
}

TEST_CASE("buffers with other sizes are still the same buffers") {
  const std::string text = changed(test::vector_add_plan(1000), test::vector_add_plan(2000));
  CHECK(text.find("~ x: bytes 4,000 -> 8,000") != std::string::npos);
  CHECK(text.find("~ scratch0: bytes 4,000 -> 8,000") != std::string::npos);
  CHECK(text.find("output 0: shape [1000] -> [2000]") != std::string::npos);
  CHECK(text.find("new") == std::string::npos);
}

TEST_CASE("another kernel, another image of the same kernel, another target") {
  const std::string renamed =
      changed(test::vector_add_plan(64), test::vector_add_plan(64, "fake_nothing"));
  CHECK(renamed.find("  - 0  kernel fake_vector_add: grid") != std::string::npos);
  CHECK(renamed.find("  + 0  kernel fake_nothing: grid") != std::string::npos);
  const std::string rebuilt =
      changed(test::vector_add_plan(64),
              test::vector_add_plan(64, "fake_vector_add", test::tiny_elf() + "x"));
  CHECK(rebuilt.starts_with("binaries\n  ~ fake_vector_add: bytes 64 -> 65; sha256 "));
  Plan other = test::vector_add_plan(64);
  other.target = "cuda:100";
  CHECK(changed(test::vector_add_plan(64), other) ==
        "header\n  ~ plan: target cuda:90 -> cuda:100\n");
}

TEST_CASE("a change inside an alternative is shown there") {
  const Plan before = test::rich_plan();
  Plan after = before;
  std::get<KernelOp>(std::get<ChoiceOp>(after.ops[4]).alternatives[0].ops[0]).grid = {9, 1, 1};
  CHECK(changed(before, after) ==
        "operations\n  ~     kernel k\xc3\xa9rnel: grid 4x2x1 -> 9x1x1\n");
}

using namespace assay::server;

TEST_CASE("items of both lists are pairs, all others are alone") {
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
