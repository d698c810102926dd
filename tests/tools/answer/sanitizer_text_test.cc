#include <string>

#include "tests/catch.h"
#include "tools/answer/verdict_answer.h"

using namespace assay;
using namespace assay::tools;
using sandbox::SanitizerFinding;
using sandbox::SanitizerReport;
using sandbox::SanitizerTool;

namespace {

SanitizerFinding stray_read() {
  return {.tool = SanitizerTool::memcheck,
          .text = "Invalid __global__ read of size 4 bytes",
          .places = {{.kernel = "add\x1b[2J", .file = "", .line = 3, .code = "x[i + 1]"}},
          .address = "0x7f00",
          .thread = {1, 2, 3},
          .block = {4, 5, 6}};
}

sandbox::Verdict verdict_with(SanitizerReport report) {
  sandbox::Verdict verdict;
  verdict.sanitizer = std::move(report);
  return verdict;
}

}  // namespace

TEST_CASE("each finding is one escaped line with its place, address, thread and block") {
  const std::string text = sanitizer_text(verdict_with({.case_id = "small",
                                                        .tools = {SanitizerTool::memcheck},
                                                        .findings = {stray_read()},
                                                        .total = 100}));
  CHECK(text ==
        "sanitizer (memcheck): 100 findings\n"
        "- memcheck: Invalid __global__ read of size 4 bytes in kernel add\\x1b[2J, line 3 "
        "`x[i + 1]`, address 0x7f00, thread (1, 2, 3) of block (4, 5, 6)\n");
}

TEST_CASE("a race names both places, and a place in a library its file") {
  const std::string line = sandbox::finding_text(
      {.tool = SanitizerTool::racecheck,
       .text = "Race",
       .places = {{.kernel = "k", .file = "", .line = 2, .code = ""},
                  {.kernel = "k", .file = "language/standard.py", .line = 7, .code = ""}},
       .address = "",
       .thread = {},
       .block = {9, 0, 0}});
  CHECK(line ==
        "racecheck: Race in kernel k, line 2 and in kernel k, language/standard.py:7, block (9, 0, "
        "0)");
}

TEST_CASE("a clean report names the tools, and without a sanitizer nothing is said") {
  CHECK(sanitizer_text(verdict_with({.case_id = "small",
                                     .tools = {SanitizerTool::memcheck, SanitizerTool::racecheck},
                                     .findings = {},
                                     .total = 0})) ==
        "sanitizer (memcheck, racecheck): no findings\n");
  CHECK(sanitizer_text({}).empty());
}
