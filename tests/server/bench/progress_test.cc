#include "server/bench/progress.h"

#include <cstdio>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::bench;
using report::Label;

TEST_CASE("progress: bar, estimates, durations") {
  CHECK(seconds_text(0.4) == "0 s");
  CHECK(seconds_text(200) == "3 min 20 s");
  CHECK(seconds_text(7'500) == "2 h 5 min");
  CHECK(progress_text({{.total = 16}}, 1) == "[------------------------] 0/16, 0 pass");
  const ProgressGroup half{
      .total = 16, .done = 8, .good = 3, .priced = true, .cost_usd = 0.2, .timed = 8, .wall_s = 20};
  CHECK(progress_text({half}, 1) ==
        "[############------------] 8/16, 3 pass, 20 s left, $0.20 of about $0.40");
  CHECK(progress_text({half}, 4) ==
        "[############------------] 8/16, 3 pass, 5 s left, $0.20 of about $0.40");
  CHECK(progress_text({{.total = 16, .done = 16, .good = 16, .timed = 16, .wall_s = 9}}, 2) ==
        "[########################] 16/16, 16 pass, 0 s left");
}

TEST_CASE(
    "each pair has its own estimate; a pair without a finished attempt is assumed to be like the "
    "others") {
  // Two of the four attempts of `slow` are finished, but only one of them was timed.
  const ProgressGroup slow{
      .total = 4, .done = 2, .priced = true, .cost_usd = 2, .timed = 1, .wall_s = 100};
  const ProgressGroup quick{.total = 4, .done = 4, .priced = false, .timed = 4, .wall_s = 4};
  CHECK(estimate_text({slow, quick}, 1) == "3 min 20 s left, $2.00 of about $4.00");
  // Only two attempts remain, so only two run at the same time, although eight may.
  CHECK(estimate_text({slow, quick}, 8) == "1 min 40 s left, $2.00 of about $4.00");
  const ProgressGroup fresh{.total = 10, .priced = true};
  CHECK(estimate_text({quick, fresh}, 1) == "10 s left, $0.0000 of about $0.0000");
  CHECK(estimate_text({{.total = 3, .done = 1, .priced = true, .cost_usd = 1}}, 1) ==
        "$1.00 of about $3.00");
  CHECK(estimate_text({fresh}, 1).empty());
}

TEST_CASE("progress without a terminal is plain lines") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    BenchProgress progress(file, false, {{.total = 2}}, 1);
    progress.step("vector_add", "compile");
    progress.finished(0, "vector_add", Label::wrong, "3 of 9 elements\x1b differ", 0, 0.2);
    progress.unfinished("gelu_tanh", "HTTP 503");
  }
  std::rewind(file);
  char text[600] = {};
  const std::size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  const std::string shown(text, size);
  CHECK(shown.find(
            "[1/2] vector_add             wrong            3 of 9 elements differ  (0 s left)\n") ==
        0);
  CHECK(shown.find("gelu_tanh              not finished     HTTP 503\n") != std::string::npos);
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find("compile") == std::string::npos);
}
