#include "sandbox/launcher/plan/plan.h"

#include <cstdint>
#include <random>
#include <vector>

#include "sandbox/launcher/plan/plan_check.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
}

std::string header_bytes() {
  std::string bytes = "ASSAYPLN";
  put<std::uint32_t>(bytes, 1);
  put<std::uint32_t>(bytes, 7);
  bytes += "cuda:90";
  return bytes;
}

}  // namespace

TEST_CASE("a plan survives encoding and decoding") {
  const Plan plan = test::rich_plan();
  const Result<Plan> again = decode_plan(encode_plan(plan));
  REQUIRE(again);
  CHECK(*again == plan);
}

TEST_CASE("the bytes are those of docs/reference/launch-plan.md") {
  std::string bytes = header_bytes();
  put<std::uint32_t>(bytes, 1);  // number of buffers
  put<std::uint8_t>(bytes, 2);
  put<std::uint64_t>(bytes, 3);
  put<std::uint32_t>(bytes, 0);
  put<std::uint64_t>(bytes, 3);
  bytes += "abc";
  put<std::uint32_t>(bytes, 0);  // number of binaries
  put<std::uint32_t>(bytes, 1);  // number of operations
  put<std::uint8_t>(bytes, 1);
  put<std::uint32_t>(bytes, 0);
  put<std::uint64_t>(bytes, 1);
  put<std::uint64_t>(bytes, 2);
  put<std::uint8_t>(bytes, 1);
  put<std::uint64_t>(bytes, 0xFF);
  put<std::uint32_t>(bytes, 1);  // number of outputs
  put<std::uint32_t>(bytes, 0);
  put<std::uint64_t>(bytes, 0);
  put<std::uint32_t>(bytes, 5);
  bytes += "uint8";
  put<std::uint32_t>(bytes, 1);
  put<std::int64_t>(bytes, 3);
  put<std::int64_t>(bytes, 1);

  const Result<Plan> plan = decode_plan(bytes);
  REQUIRE(plan);
  CHECK(plan->target == "cuda:90");
  CHECK(plan->buffers == std::vector<PlanBuffer>{{BufferKind::constant, 3, "", "abc"}});
  CHECK(plan->ops == std::vector<PlanOp>{FillOp{0, 1, 2, 1, 0xFF}});
  CHECK(plan->outputs == std::vector<PlanOutput>{{0, 0, "uint8", {3}, {1}}});
  CHECK(encode_plan(*plan) == bytes);
}

TEST_CASE("a plan of version 1 can be read, and may not use the additions of version 2") {
  Plan old = test::vector_add_plan(64);
  old.version = 1;
  const Result<Plan> again = decode_plan(encode_plan(old));
  REQUIRE(again);
  CHECK(*again == old);
  Plan with_map = old;
  std::get<KernelOp>(with_map.ops[0]).params[0] = test::tensor_map();
  Plan with_choice = old;
  with_choice.ops.push_back(ChoiceOp{0, {{"only", {}}}});
  for (const auto& [plan, reason] :
       {std::pair(with_map, "4 is none of 0 (scalar), 1 (pointer), 2 (null), 3 (global scratch)"),
        std::pair(with_choice, "3 is none of 0 (kernel), 1 (fill), 2 (copy)")}) {
    const Result<Plan> decoded = decode_plan(encode_plan(plan));
    REQUIRE_FALSE(decoded);
    INFO(decoded.error().message);
    CHECK(has(decoded.error().message, reason));
  }
}

TEST_CASE("choices cannot be nested, and their operations count towards the limit") {
  const auto refusal = [](const Plan& plan) {
    const Result<Plan> decoded = decode_plan(encode_plan(plan));
    return decoded ? std::string() : decoded.error().message;
  };
  Plan plan = test::vector_add_plan(64);
  const SimpleOp fill = FillOp{2, 0, 1, 4, 0};
  plan.ops = {ChoiceOp{0, {{"a", std::vector<SimpleOp>(kMaxPlanOperations, fill)}}}};
  CHECK(refusal(plan).empty());
  plan.ops.push_back(FillOp{2, 0, 1, 4, 0});
  CHECK(has(refusal(plan), "operations"));
  plan.ops = {ChoiceOp{0, std::vector<Alternative>(kMaxAlternatives + 1, Alternative{"a", {}})}};
  CHECK(has(refusal(plan), "65 is over the limit of 64"));
  // Creates a choice inside an alternative, by overwriting the code of the alternative's only
  // operation.
  plan.ops = {ChoiceOp{0, {{"a", {fill}}}}};
  std::string bytes = encode_plan(plan);
  const std::size_t code = bytes.rfind(std::string("\x01\x02\0\0\0", 5));
  REQUIRE(code != std::string::npos);
  bytes[code] = 3;
  const Result<Plan> nested = decode_plan(bytes);
  REQUIRE_FALSE(nested);
  CHECK(has(nested.error().message, "3 is none of 0 (kernel), 1 (fill), 2 (copy)"));
  Plan unranked = test::vector_add_plan(64);
  TensorMapParam map = test::tensor_map();
  map.shape.clear();
  map.strides.clear();
  map.box.clear();
  std::get<KernelOp>(unranked.ops[0]).params[0] = map;
  CHECK(has(refusal(unranked), "tensor map rank"));
}

TEST_CASE(
    "a plan that is truncated anywhere is refused, and so is one with more bytes at its end") {
  const std::string bytes = encode_plan(test::rich_plan());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut to " << size << " of " << bytes.size());
    const Result<Plan> plan = decode_plan(std::string_view(bytes).substr(0, size));
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == ErrorCode::corrupt);
  }
  const Result<Plan> longer = decode_plan(bytes + "x");
  REQUIRE_FALSE(longer);
  CHECK(has(longer.error().message, "1 bytes follow the last output"));
}

TEST_CASE("mutated plans fail or decode, and decoded plans are encoded to the same bytes") {
  const std::string original = encode_plan(test::rich_plan());
  std::mt19937 random(20240717);
  int decoded = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = original;
    const auto changes = 1 + random() % 4;
    for (unsigned i = 0; i < changes; ++i)
      bytes[random() % bytes.size()] = static_cast<char>(round % 3 == 0 ? 0xFF : random());
    const Result<Plan> plan = decode_plan(bytes);
    if (!plan) continue;
    ++decoded;
    CHECK(encode_plan(*plan) == bytes);
    (void)check_plan(*plan, {"cuda:90", {{"x", 256}, {"y", 256}}, 1 << 20});
  }
  CHECK(decoded > 100);
}

TEST_CASE("counts and sizes are checked before memory is reserved for them") {
  const auto refused = [](const std::string& bytes, const std::string& reason) {
    const Result<Plan> plan = decode_plan(bytes);
    REQUIRE_FALSE(plan);
    INFO(plan.error().message);
    CHECK(has(plan.error().message, reason));
  };
  std::string bytes = header_bytes();
  SECTION("more buffers than the limit") {
    put<std::uint32_t>(bytes, kMaxPlanBuffers + 1);
    refused(bytes, "4097 is over the limit of 4096");
  }
  SECTION("more buffers than the bytes that are left can hold") {
    put<std::uint32_t>(bytes, kMaxPlanBuffers);
    refused(bytes, "4096 of them need at least 86016 bytes, 0 are left");
  }
  SECTION("a blob of almost 2^64 bytes") {
    put<std::uint32_t>(bytes, 1);
    put<std::uint8_t>(bytes, 2);
    put<std::uint64_t>(bytes, 8);
    put<std::uint32_t>(bytes, 0);
    put<std::uint64_t>(bytes, ~0ULL - 3);
    bytes += "12345678";
    refused(bytes, "buffer constant");
  }
  SECTION("a name over the limit") {
    std::string plan = "ASSAYPLN";
    put<std::uint32_t>(plan, 1);
    put<std::uint32_t>(plan, kMaxStringBytes + 1);
    plan += std::string(kMaxStringBytes + 1, 'x');
    refused(plan, "4097 bytes are over the limit of 4096");
  }
  SECTION("unknown kinds and codes") {
    Plan plan = test::rich_plan();
    plan.buffers[0].kind = static_cast<BufferKind>(3);
    refused(encode_plan(plan), "3 is none of 0 (input), 1 (scratch), 2 (constant)");
    plan = test::rich_plan();
    std::get<FillOp>(plan.ops[2]).width = 3;
    refused(encode_plan(plan), "fill width");
    plan = test::rich_plan();
    std::get<ScalarParam>(std::get<KernelOp>(plan.ops[0]).params[3]).size = 16;
    refused(encode_plan(plan), "scalar size");
  }
  SECTION("another version, another format") {
    std::string other = encode_plan(test::rich_plan());
    other[8] = 3;
    refused(other, "3 is unknown; this launcher reads versions 1 to 2");
    other[0] = 'X';
    refused(other, "not a launch plan");
  }
  SECTION("names that are not UTF-8") {
    for (const std::string name :
         {"\xff", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "a\x80"}) {
      Plan plan = test::rich_plan();
      plan.binaries[0].kernel = name;
      refused(encode_plan(plan), "not UTF-8");
    }
  }
  SECTION("a rank over the limit") {
    Plan plan = test::rich_plan();
    plan.outputs[0].shape.assign(kMaxRank + 1, 1);
    plan.outputs[0].strides.assign(kMaxRank + 1, 1);
    refused(encode_plan(plan), "output rank");
  }
}

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("outputs lie one after the other at aligned offsets") {
  Plan plan;
  plan.outputs = {
      {0, 0, "uint8", {3}, {1}}, {0, 0, "float64", {}, {}}, {0, 0, "float16", {2, 2}, {1, 8}}};
  CHECK(output_offsets(plan) == std::vector<std::uint64_t>{0, 256, 512, 532});
}

TEST_CASE("a dtype has its size, and dtype_names lists all") {
  CHECK(dtype_bytes("bfloat16") == 2u);
  CHECK_FALSE(dtype_bytes("float12"));
  CHECK(dtype_names().starts_with("float64, float32, "));
}

TEST_CASE("a span that does not fit 64 bits is refused") {
  CHECK_FALSE(output_span_bytes({0, 0, "float64", {2}, {INT64_MAX}}));
  CHECK(output_span_bytes({0, 0, "float64", {0, 7}, {1, 1}}) == 0u);
}
