#include "server/plan_text/show.h"

#include <algorithm>
#include <bit>

#include "base/handle.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay::server;
using namespace assay::sandbox;

TEST_CASE("a plan as text") {
  const Plan plan = test::vector_add_plan(1000);
  const std::string hash = assay::sha256_hex(test::tiny_elf()).substr(0, 16);
  CHECK(show_plan(plan, 12345) ==
        "launch plan: version 2, target cuda:90, 12,345 bytes\n"
        "buffers: 3, 12,000 bytes\n"
        "  x  role input  bytes 4,000\n"
        "  y  role input  bytes 4,000\n"
        "  scratch0  role scratch, holds an output  bytes 4,000\n"
        "binaries: 1\n"
        "  fake_vector_add  bytes 64  sha256 " +
            hash +
            "  shared memory 0 bytes a block\n"
            "operations: 1\n"
            "  0  kernel fake_vector_add  grid 8x1x1  block 128x1x1\n"
            "        argument 0 x\n"
            "        argument 1 y\n"
            "        argument 2 scratch0\n"
            "        argument 3 1000 (4 bytes)\n"
            "outputs: 1\n"
            "  output 0  in scratch0  dtype float32  shape [1000]  strides [1]\n");
}

TEST_CASE("no text of a plan adds a line") {
  const std::string forged = "x\noperations: FORGED\tx\xe2\x80\xae";
  Plan plan = test::vector_add_plan(1000);
  const std::string honest = show_plan(plan, 1);
  plan.target = forged;
  for (PlanBuffer& buffer : plan.buffers) buffer.name = forged;
  for (PlanBinary& binary : plan.binaries) binary.kernel = forged;
  for (PlanOutput& output : plan.outputs) output.dtype = forged;
  const std::string text = show_plan(plan, 1);
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') ==
        std::count(honest.begin(), honest.end(), '\n'));
  CHECK(text.find_first_of("\t\xe2") == std::string::npos);
  CHECK(text.find("target x operations: FORGED x\\u{202e}, ") != std::string::npos);
}

TEST_CASE("choices show what each alternative does, and operations keep their numbers") {
  const std::string text = show_plan(test::rich_plan(), 1);
  CHECK(text.find("  4  choice  tunable 7  alternatives 3\n    alternative BLOCK: 64\n      "
                  "kernel k\xc3\xa9rnel") != std::string::npos);
  CHECK(text.find("    alternative BLOCK: 128\n      copy x to scratch0") != std::string::npos);
}

TEST_CASE("an empty plan, and a plan whose buffers are too large to add up") {
  Plan plan;
  plan.target = "cuda:90";
  CHECK(show_plan(plan, 0).find("operations: 0\n  none\n") != std::string::npos);
  plan.buffers = {{BufferKind::scratch, ~0ULL, "", ""}, {BufferKind::scratch, 1, "", ""}};
  CHECK(show_plan(plan, 0).find("over 2^64 bytes") != std::string::npos);
}

using namespace assay::server;
using namespace assay::sandbox;
using Facts = std::vector<std::pair<std::string, std::string>>;

namespace {

std::string fact(const Entry& entry, const std::string& wanted) {
  for (const auto& [label, value] : entry.facts) {
    if (label == wanted) return value;
  }
  return "(none)";
}

}  // namespace

TEST_CASE("a kernel's arguments are named by buffer and offset, scalars by value") {
  Plan plan = test::vector_add_plan(1000);
  std::get<PointerParam>(std::get<KernelOp>(plan.ops[0]).params[1]).offset = 64;
  const auto entries = operation_entries(plan, buffer_names(plan));
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].title == "kernel fake_vector_add");
  CHECK(entries[0].facts == Facts{{"grid", "8x1x1"},
                                  {"block", "128x1x1"},
                                  {"argument 0", "x"},
                                  {"argument 1", "y + 64"},
                                  {"argument 2", "scratch0"},
                                  {"argument 3", "1000 (4 bytes)"}});
}

TEST_CASE("one operation and parameter of each kind") {
  const Plan plan = test::rich_plan();
  const BufferNames names = buffer_names(plan);
  CHECK(names == BufferNames{"x", "y", "scratch0", "constant0"});
  const auto entries = operation_entries(plan, names);
  REQUIRE(entries.size() == 11);
  CHECK(fact(entries[1], "cluster") == "2x1x1");
  CHECK(fact(entries[1], "launch") == "cooperative, programmatic dependent");
  CHECK(fact(entries[1], "argument 2") == "-1 (8 bytes)");
  CHECK(fact(entries[1], "argument 3") == "null");
  CHECK(fact(entries[1], "argument 4") == "global scratch, 128 bytes a program, aligned to 128");
  CHECK(fact(entries[1], "argument 6")
            .starts_with("tensor map of scratch0, shape [16, 4], strides [64] bytes, box [8, 2]"));
  CHECK(entries[2].title == "fill scratch0");
  CHECK(fact(entries[2], "pattern") == "0x102030405060708");
  CHECK(entries[3].title == "copy x to scratch0");
  CHECK(entries[4].title == "choice");
  CHECK(entries[5].title == "alternative BLOCK: 64");
  CHECK(entries[5].depth == 1);
  CHECK(entries[6].depth == 2);
  CHECK(entries[10].title == "alternative (no name)");
  CHECK(fact(buffer_entries(plan, names)[2], "role") == "scratch, holds an output");
  CHECK(fact(binary_entries(plan)[1], "shared memory") == "70,000 bytes a block");
  CHECK(fact(output_entries(plan, names)[1], "in") == "scratch0 + 4");
}

TEST_CASE("an integer that is probably a float is shown as both") {
  Plan plan = test::vector_add_plan(64);
  std::get<KernelOp>(plan.ops[0]).params = {ScalarParam{4, std::bit_cast<std::uint32_t>(1.5F)},
                                            ScalarParam{8, std::bit_cast<std::uint64_t>(-0.25)},
                                            ScalarParam{4, 0xFFFFFFFF}};
  const Entry entry = operation_entries(plan, buffer_names(plan))[0];
  CHECK(fact(entry, "argument 0") == "1069547520, as float32 1.5 (4 bytes)");
  CHECK(fact(entry, "argument 1").find("as float64 -0.25") != std::string::npos);
  CHECK(fact(entry, "argument 2") == "-1 (4 bytes)");
}

TEST_CASE(
    "names of a plan cannot control a terminal or forge a line, and invalid indices are shown as "
    "such") {
  Plan plan = test::vector_add_plan(64, "\x1b[2Jevil\nkernel");
  plan.ops.push_back(CopyOp{9, 0, 0, 0, 4});
  const auto entries = operation_entries(plan, buffer_names(plan));
  CHECK(entries[0].title == "kernel \\x1b[2Jevil kernel");
  CHECK(entries[1].title == "copy x to no buffer 9");
  std::get<KernelOp>(plan.ops[0]).binary = 5;
  CHECK(operation_entries(plan, buffer_names(plan))[0].title == "kernel of no binary 5");
}
