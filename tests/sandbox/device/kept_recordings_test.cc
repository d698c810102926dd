// Tests what a verdict tells of hidden cases if their launch plans were kept from an earlier job.
#include <string>

#include "sandbox/launch/launching.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

TEST_CASE("a grade of kept recordings tells that it used hidden cases, as the first grade did") {
  // The launcher refuses the kernel of the hidden case, so the case is recorded, and kept.
  const std::string source =
      kImports +
      "@triton.jit\ndef fake_illegal_address(x, n):\n    tl.store(x + n, 1.0)\n"
      "@triton.jit\ndef fake_copy(x, y, n):\n    pass\n"
      "def plain_copy(x):\n    y = torch.empty_like(x)\n    if x.numel() == 1000:\n"
      "        fake_illegal_address[(1,)](y, 0)\n    fake_copy[(1,)](x, y, x.numel())\n"
      "    return y\n";
  for (const bool kept : {false, true}) {
    const Verdict verdict =
        run(copy_job(JobKind::grade, "import triton.language as tl\n" + source));
    INFO(verdict.summary << " " << verdict.detail);
    CHECK((verdict.stage_ms.count("import") == 0) == kept);
    CHECK(verdict.error_kind == ErrorKind::invalid_plan);
    CHECK(verdict.tells_hidden);
  }
}
