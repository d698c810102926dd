// Tests which copies of a launch plan change the order of elements.
#include "sandbox/launcher/plan/layout.h"

#include <cstdint>
#include <initializer_list>
#include <string>

#include "sandbox/launcher/plan/plan_check.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

namespace assay::sandbox {
namespace {

constexpr std::uint64_t kBytes = 4096;
constexpr std::uint32_t kOwn = 0, kAnyOrder = 1, kInOrder = 2;       // indices of binaries
constexpr std::uint32_t kX = 0, kT = 1, kU = 2, kY = 3, kTable = 4;  // indices of buffers

/// Returns a plan with an input, three scratch buffers and a constant. The buffer kY is the output.
Plan plan_of(std::initializer_list<PlanOp> ops) {
  Plan plan;
  plan.target = "cuda:90";
  plan.buffers = {{BufferKind::input, kBytes, "x", ""},
                  {BufferKind::scratch, kBytes, "", ""},
                  {BufferKind::scratch, kBytes, "", ""},
                  {BufferKind::scratch, kBytes, "", ""},
                  {BufferKind::constant, kBytes, "", std::string(kBytes, 'c')}};
  for (const char* name : {"mine", "assay_copy", "assay_copy_in_order"})
    plan.binaries.push_back({name, 0, test::tiny_elf()});
  plan.ops = ops;
  plan.outputs = {{kY, 0, "float32", {32, 32}, {32, 1}}};
  PlanRules rules;
  rules.target = "cuda:90";
  rules.output_bytes = kBytes;
  rules.inputs = {{"x", kBytes}};
  REQUIRE(check_plan(plan, rules));
  return plan;
}

KernelOp launch(std::uint32_t binary, std::initializer_list<PointerParam> pointers) {
  KernelOp op;
  op.binary = binary;
  for (const PointerParam& pointer : pointers) op.params.emplace_back(pointer);
  return op;
}

KernelOp own(std::uint32_t to, std::uint32_t from) { return launch(kOwn, {{to, 0}, {from, 0}}); }

KernelOp copy(std::uint32_t kernel, PointerParam to, PointerParam from) {
  return launch(kernel, {to, from});
}

}  // namespace

TEST_CASE("copies that keep the order are no layout work") {
  CHECK_FALSE(reorders(plan_of({own(kY, kX)})));
  SECTION("pad, kernel, unpad") {
    CHECK_FALSE(reorders(plan_of({FillOp{kT, 0, kBytes / 4, 4, 0}, copy(kInOrder, {kT, 4}, {kX, 0}),
                                  own(kU, kT), copy(kInOrder, {kY, 0}, {kU, 0})})));
  }
  SECTION("rows of one buffer, in order") {
    CHECK_FALSE(reorders(
        plan_of({own(kT, kX), CopyOp{kY, 0, kT, 64, 1024}, CopyOp{kY, 1024, kT, 2048, 1024}})));
  }
  SECTION("a copy that reaches no output") {
    CHECK_FALSE(reorders(plan_of({own(kY, kX), copy(kAnyOrder, {kT, 0}, {kX, 0})})));
    CHECK_FALSE(reorders(plan_of({own(kY, kX), copy(kAnyOrder, {kT, 0}, {kY, 0})})));
  }
  SECTION("a constant holds no data of an input") {
    CHECK_FALSE(reorders(plan_of(
        {copy(kAnyOrder, {kT, 0}, {kTable, 0}), launch(kOwn, {{kY, 0}, {kX, 0}, {kT, 0}})})));
  }
  SECTION("the same copy twice") {
    CHECK_FALSE(
        reorders(plan_of({CopyOp{kT, 0, kX, 0, 512}, CopyOp{kT, 0, kX, 0, 512}, own(kY, kT)})));
  }
}

TEST_CASE("a copy in another order on the way to an output is layout work") {
  // The kernel runs first, and its result is copied.
  CHECK(reorders(plan_of({own(kT, kX), copy(kAnyOrder, {kY, 0}, {kT, 0})})));
  // The input is copied first, and the kernel reads the copy.
  CHECK(reorders(plan_of({copy(kAnyOrder, {kT, 0}, {kX, 0}), own(kY, kT)})));
  SECTION("in one of the alternatives") {
    CHECK(reorders(plan_of({ChoiceOp{
        0, {{"honest", {own(kY, kX)}}, {"lazy", {copy(kAnyOrder, {kY, 0}, {kX, 0})}}}}})));
  }
  SECTION("into an argument that a kernel may have read") {
    CHECK(reorders(
        plan_of({copy(kAnyOrder, {kU, 0}, {kX, 0}), launch(kOwn, {{kX, 0}, {kY, 0}, {kU, 0}})})));
  }
}

TEST_CASE("copies that keep the order one by one may change it together") {
  SECTION("rows of one buffer, exchanged") {
    CHECK(reorders(
        plan_of({own(kT, kX), CopyOp{kY, 0, kT, 1024, 1024}, CopyOp{kY, 1024, kT, 0, 1024}})));
  }
  SECTION("one row in two places") {
    CHECK(reorders(
        plan_of({own(kT, kX), CopyOp{kY, 0, kT, 0, 1024}, CopyOp{kY, 1024, kT, 0, 1024}})));
  }
  SECTION("parts of two buffers") {
    CHECK(reorders(plan_of(
        {own(kT, kX), own(kU, kX), CopyOp{kY, 0, kT, 0, 1024}, CopyOp{kY, 1024, kU, 1024, 1024}})));
  }
  SECTION("columns into one buffer") {
    CHECK(reorders(plan_of(
        {own(kT, kX), copy(kInOrder, {kY, 0}, {kT, 0}), copy(kInOrder, {kY, 4}, {kT, 128})})));
  }
  SECTION("columns out of one buffer") {
    CHECK(reorders(plan_of({copy(kInOrder, {kT, 0}, {kX, 0}), copy(kInOrder, {kU, 0}, {kX, 4}),
                            launch(kOwn, {{kY, 0}, {kT, 0}, {kU, 0}})})));
  }
  SECTION("a buffer that is used again") {
    CHECK(reorders(plan_of(
        {CopyOp{kT, 0, kX, 0, 128}, own(kY, kT), CopyOp{kT, 0, kX, 128, 128}, own(kY, kT)})));
  }
}

TEST_CASE("the strides of an output are layout too") {
  Plan plan = plan_of({own(kY, kX)});
  plan.outputs[0].strides = {1, 32};
  CHECK(reorders(plan));
  plan.outputs[0] = {kY, 0, "float32", {16, 1, 16}, {64, 1, 2}};  // gaps do not matter
  CHECK_FALSE(reorders(plan));
  plan.outputs[0] = {kY, 0, "float32", {16, 16}, {0, 1}};  // one row repeated 16 times
  CHECK(reorders(plan));
}

TEST_CASE("only the recorder's kernels count as copies") {
  CHECK(is_recorder_kernel("assay_copy"));
  CHECK(is_recorder_kernel(kInOrderCopy));
  CHECK_FALSE(is_recorder_kernel("my_assay_copy"));
}

}  // namespace assay::sandbox
