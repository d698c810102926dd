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
  const ProgressGroup half{.total = 16,
                           .done = 8,
                           .good = 3,
                           .priced = true,
                           .cost_usd = 0.2,
                           .walls_s = std::vector<double>(8, 2.5)};
  CHECK(progress_text({half}, 1) ==
        "[############------------] 8/16, 3 pass, 20 s left, $0.20 of about $0.40");
  CHECK(progress_text({half}, 4) ==
        "[############------------] 8/16, 3 pass, 5 s left, $0.20 of about $0.40");
  CHECK(progress_text(
            {{.total = 16, .done = 16, .good = 16, .walls_s = std::vector<double>(16, 1)}}, 2) ==
        "[########################] 16/16, 16 pass, 0 s left");
}

TEST_CASE(
    "each pair has its own estimate; a pair without a finished attempt is assumed to be like the "
    "others") {
  // Two of the five attempts of `slow` remain.
  const ProgressGroup slow{
      .total = 5, .done = 3, .priced = true, .cost_usd = 3, .walls_s = std::vector<double>(3, 100)};
  const ProgressGroup quick{
      .total = 4, .done = 4, .priced = false, .walls_s = std::vector<double>(4, 1)};
  CHECK(estimate_text({slow, quick}, 1) == "3 min 20 s left, $3.00 of about $5.00");
  // Only two attempts remain, so only two run at the same time, although eight may.
  CHECK(estimate_text({slow, quick}, 8) == "1 min 40 s left, $3.00 of about $5.00");
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
    BenchProgress progress(file, false, {{.total = 2}}, 1, 22);
    progress.step("vector_add", "compile");
    progress.notice("vector_add", "try 3 of 6 in 1.5 s: connection refused");
    progress.finished(0, "vector_add", Label::wrong, "3 of 9 elements\x1b differ", 0, 0.2);
    progress.unfinished("gelu_tanh", "HTTP 503");
  }
  std::rewind(file);
  char text[600] = {};
  const std::size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  const std::string shown(text, size);
  CHECK(shown.find("        vector_add             model            try 3 of 6 in 1.5 s: "
                   "connection refused\n") == 0);
  // One attempt is too few for an estimate of the time that is left.
  CHECK(shown.find("[1/2] vector_add             wrong            3 of 9 elements\\x1b differ\n") !=
        std::string::npos);
  CHECK(shown.find("gelu_tanh              not finished     HTTP 503\n") != std::string::npos);
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find("compile") == std::string::npos);
}

TEST_CASE("the estimate waits for three attempts, and one long attempt changes it little") {
  ProgressGroup group{.total = 100, .done = 2, .walls_s = {9, 1}};
  CHECK(estimate_text({group}, 1).empty());
  group.done = 10;
  group.walls_s = {600, 1, 1, 1, 1, 1, 1, 1, 1, 1};  // the mean would give 90 minutes and more
  CHECK(estimate_text({group}, 1) == "1 min 57 s left");
}

TEST_CASE("the columns stay where they are") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    BenchProgress progress(file, false, {{.total = 2}}, 1, 12);
    progress.finished(0, "relu", Label::pass, "a", 0, 1);
    progress.finished(0, "softmax_last", Label::truncated, "b", 0, 1);
  }
  std::rewind(file);
  char text[600] = {};
  const std::size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  CHECK(std::string(text, size) ==
        "[1/2] relu         pass             a\n[2/2] softmax_last truncated        b\n");
}
