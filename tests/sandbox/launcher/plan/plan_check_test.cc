#include "sandbox/launcher/plan/plan_check.h"

#include <cstdint>
#include <functional>

#include "sandbox/launcher/plan/plan.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

const PlanRules kRules{"cuda:90", {{"x", 256}, {"y", 256}, {"unused", 8}}, 4096};

struct Bad {
  const char* reason;
  std::function<void(Plan&)> spoil;
};

KernelOp& kernel(Plan& plan, std::size_t op = 1) { return std::get<KernelOp>(plan.ops[op]); }
TensorMapParam& map(Plan& plan) { return std::get<TensorMapParam>(kernel(plan).params[6]); }
ChoiceOp& choice(Plan& plan) { return std::get<ChoiceOp>(plan.ops[4]); }

}  // namespace

TEST_CASE("a recorded plan passes its checks") {
  const Status status = check_plan(test::rich_plan(), kRules);
  INFO((status ? "" : status.error().message));
  CHECK(status);
}

TEST_CASE("each kind of wrong plan has its own message") {
  const std::vector<Bad> bad = {
      {"the plan is for 'cuda:80', this device runs cuda:90",
       [](Plan& p) { p.target = std::string("cuda:80"); }},
      {"the plan is for 'hip:gfx942'", [](Plan& p) { p.target = std::string("hip:gfx942"); }},
      {"the plan is for 'cuda:91'", [](Plan& p) { p.target = std::string("cuda:91"); }},
      {"buffer 0: input 'z' is no tensor argument of the case; valid: x, y, unused",
       [](Plan& p) { p.buffers[0].name = std::string("z"); }},
      {"buffer 1: input 'x' appears twice", [](Plan& p) { p.buffers[1].name = std::string("x"); }},
      {"input 'x' has 256 bytes, the plan says 512", [](Plan& p) { p.buffers[0].bytes = 512; }},
      {"buffer 2: has a name", [](Plan& p) { p.buffers[2].name = std::string("x"); }},
      {"buffer 3: carries 5 constant bytes", [](Plan& p) { p.buffers[3].bytes = 6; }},
      {"buffer 2: carries 1 constant bytes",
       [](Plan& p) { p.buffers[2].constant = std::string("a"); }},
      {"binary 0: the kernel's name is empty", [](Plan& p) { p.binaries[0].kernel.clear(); }},
      {"no ELF file", [](Plan& p) { p.binaries[0].image = std::string(".version 8.0"); }},
      {"binary 2 does not exist; the plan has 2", [](Plan& p) { kernel(p).binary = 2; }},
      {"flags 7 have unknown bits", [](Plan& p) { kernel(p).flags = 7; }},
      {"extents start at 1", [](Plan& p) { kernel(p).grid[1] = 0; }},
      {"extents start at 1",
       [](Plan& p) {
         kernel(p).cluster = {0, 0, 0};
       }},
      {"the grid is over",
       [](Plan& p) {
         kernel(p).grid = {2, 65536, 1};
       }},
      {"the block is over 1024 threads",
       [](Plan& p) {
         kernel(p).block = {1024, 2, 1};
       }},
      {"the block is over 1024 threads",
       [](Plan& p) {
         kernel(p).block = {1u << 31, 1u << 31, 4};
       }},
      {"the cluster is over 16 blocks",
       [](Plan& p) {
         kernel(p).cluster = {32, 1, 1};
       }},
      {"no multiple of the cluster in dimension 0", [](Plan& p) { kernel(p).grid[0] = 3; }},
      {"parameter 5: buffer 9 does not exist; the plan has 4",
       [](Plan& p) {
         kernel(p).params[5] = PointerParam{9, 0};
       }},
      {"parameter 5: 0 bytes from 6 on are outside buffer 3 (constant, 5 bytes)",
       [](Plan& p) {
         kernel(p).params[5] = PointerParam{3, 6};
       }},
      {"parameter 4: alignment 3 is no power of two",
       [](Plan& p) {
         kernel(p).params[4] = GlobalScratchParam{1, 3};
       }},
      {"parameter 4: alignment 0 is no power of two",
       [](Plan& p) {
         kernel(p).params[4] = GlobalScratchParam{1, 0};
       }},
      {"parameter 4: alignment 8192 is no power of two",
       [](Plan& p) {
         kernel(p).params[4] = GlobalScratchParam{1, 8192};
       }},
      {"the scratch of all blocks does not fit",
       [](Plan& p) {
         kernel(p).params[4] = GlobalScratchParam{1ULL << 62, 1};
       }},
      {"operation 2: fill: 256 bytes from 8 on are outside buffer 2 (scratch, 256 bytes)",
       [](Plan& p) { std::get<FillOp>(p.ops[2]).count = 32; }},
      {"count times width does not fit",
       [](Plan& p) { std::get<FillOp>(p.ops[2]).count = 1ULL << 62; }},
      {"offset 4 is no multiple of the width 8",
       [](Plan& p) { std::get<FillOp>(p.ops[2]).offset = 4; }},
      {"operation 3: copy source: 32 bytes from 240 on",
       [](Plan& p) { std::get<CopyOp>(p.ops[3]).src_offset = 240; }},
      {"operation 3: copy destination: ",
       [](Plan& p) { std::get<CopyOp>(p.ops[3]).dst_offset = ~0ULL; }},
      {"source and destination overlap",
       [](Plan& p) {
         p.ops[3] = CopyOp{2, 0, 2, 16, 32};
       }},
      {"parameter 6: tensor map: buffer 9 does not exist", [](Plan& p) { map(p).buffer = 9; }},
      {"parameter 6: tensor map: 256 bytes from 16 on are outside buffer 2",
       [](Plan& p) { map(p).offset = 16; }},
      {"tensor map: offset 8 is no multiple of 16", [](Plan& p) { map(p).offset = 8; }},
      {"tensor map: 272 bytes from 0 on are outside", [](Plan& p) { map(p).shape[0] = 20; }},
      {"tensor map: element type 15", [](Plan& p) { map(p).type = 15; }},
      {"tensor map: swizzle 4", [](Plan& p) { map(p).swizzle = 4; }},
      {"tensor map: padding 2", [](Plan& p) { map(p).nan_outside = 2; }},
      {"tensor map: padding 1; valid: 0 (zeros), and 1 (NaN) for floats",
       [](Plan& p) { map(p).type = 3; }},
      {"tensor map: extents are from 1", [](Plan& p) { map(p).shape[1] = 0; }},
      {"tensor map: extents are from 1", [](Plan& p) { map(p).shape[0] = (1ULL << 32) + 1; }},
      {"tensor map: box extents are from 1 to 256", [](Plan& p) { map(p).box[1] = 257; }},
      {"tensor map: strides are multiples of 16", [](Plan& p) { map(p).strides[0] = 72; }},
      {"tensor map: its span does not fit 64 bits",
       [](Plan& p) {
         map(p).shape[1] = 1ULL << 32;
         map(p).strides[0] = (1ULL << 40) - 16;
       }},
      {"tensor map: want 1 to 5 dimensions", [](Plan& p) { map(p).strides.clear(); }},
      {"operation 4: choice: there is no alternative",
       [](Plan& p) { choice(p).alternatives.clear(); }},
      {"operation 4: alternative 0: operation 1: fill: 400 bytes",
       [](Plan& p) { std::get<FillOp>(choice(p).alternatives[0].ops[1]).count = 100; }},
      {"operation 4: alternative 0: operation 0: kernel 'kérnel': the block is over",
       [](Plan& p) { std::get<KernelOp>(choice(p).alternatives[0].ops[0]).block[0] = 2048; }},
      {"operation 5: choice: tunable 7 had 3 alternatives before, and has 1 here",
       [](Plan& p) {
         p.ops.push_back(ChoiceOp{7, {{"a", {}}}});
       }},
      {"outputs: there is none", [](Plan& p) { p.outputs.clear(); }},
      {"output 0: unknown dtype; valid: float64",
       [](Plan& p) { p.outputs[0].dtype = std::string("complex64"); }},
      {"output 0: shape and strides need", [](Plan& p) { p.outputs[0].shape[0] = -1; }},
      {"output 0: shape and strides need", [](Plan& p) { p.outputs[0].strides[0] = -4; }},
      {"output 0: shape and strides need",
       [](Plan& p) { p.outputs[0].shape[0] = p.outputs[0].strides[0] = 1LL << 62; }},
      {"output 0: 256 bytes from 4 on are outside", [](Plan& p) { p.outputs[0].offset = 4; }},
      {"output 1: offset 2 is no multiple of the 4 bytes of a int32",
       [](Plan& p) { p.outputs[1].offset = 2; }},
      {"output 2: 0 bytes from 6 on", [](Plan& p) { p.outputs[2].offset = 6; }},
      {"output 16: the outputs up to here need more than the 4096 bytes",
       [](Plan& p) { p.outputs.assign(20, p.outputs[0]); }},
  };
  for (const Bad& one : bad) {
    Plan plan = test::rich_plan();
    one.spoil(plan);
    const Status status = check_plan(plan, kRules);
    INFO("expected: " << one.reason);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::invalid_argument);
    INFO("found: " << status.error().message);
    CHECK(status.error().message.find(one.reason) != std::string::npos);
  }
}

TEST_CASE("a pointer to the end of a buffer is valid, and so is an output with broadcast strides") {
  Plan plan = test::vector_add_plan(64);
  kernel(plan, 0).params[0] = PointerParam{0, 256};
  plan.outputs[0].shape = {1000, 64};
  plan.outputs[0].strides = {0, 1};
  CHECK(check_plan(plan, kRules));
  CHECK(output_span_bytes(plan.outputs[0]) == 256u);
}

TEST_CASE("a plan for an older minor version of the device's architecture may run") {
  Plan plan = test::vector_add_plan(64);
  plan.target = std::string("cuda:120");
  CHECK(check_plan(plan, {"cuda:121", kRules.inputs, 4096}));
  CHECK_FALSE(check_plan(plan, {"cuda:100", kRules.inputs, 4096}));
}
