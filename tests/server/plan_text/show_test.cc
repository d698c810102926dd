#include "server/plan_text/show.h"

#include "base/handle.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay::server;
using namespace assay::sandbox;

TEST_CASE("a plan for people") {
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

TEST_CASE("choices show what each alternative does, and operations keep their numbers") {
  const std::string text = show_plan(test::rich_plan(), 1);
  CHECK(text.find("  4  choice  tunable 7  alternatives 3\n    alternative BLOCK: 64\n      "
                  "kernel k\xc3\xa9rnel") != std::string::npos);
  CHECK(text.find("    alternative BLOCK: 128\n      copy x to scratch0") != std::string::npos);
}

TEST_CASE("a plan of nothing, and one whose buffers have no sum") {
  Plan plan;
  plan.target = "cuda:90";
  CHECK(show_plan(plan, 0).find("operations: 0\n  none\n") != std::string::npos);
  plan.buffers = {{BufferKind::scratch, ~0ULL, "", ""}, {BufferKind::scratch, 1, "", ""}};
  CHECK(show_plan(plan, 0).find("over 2^64 bytes") != std::string::npos);
}
