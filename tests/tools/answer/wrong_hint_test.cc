#include "tools/answer/wrong_hint.h"

#include <limits>

#include "tests/catch.h"

namespace assay::tools {
namespace {

using sandbox::Region;
using sandbox::WrongOutput;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string hint_of(const WrongOutput& wrong) {
  sandbox::Verdict verdict;
  verdict.cases.resize(2);  // the first case has passed
  verdict.cases[1].wrong = {wrong};
  return wrong_hint(verdict);
}

bool says(const WrongOutput& wrong, const char* part) {
  return hint_of(wrong).find(part) != std::string::npos;
}

WrongOutput base() {
  WrongOutput wrong;
  wrong.output = "y";
  wrong.shape = {100};
  wrong.elements = 100;
  wrong.all = {.count = 10, .share = 0.1, .spans = {}};
  return wrong;
}

}  // namespace

TEST_CASE("elements that were not stored decide, whichever element is the first") {
  WrongOutput wrong = base();
  wrong.memory = kNan;
  wrong.unstored.count = 3;
  CHECK(says(wrong, "store's mask and the grid"));
  wrong.unstored.count = 100;
  CHECK(says(wrong, "No kernel stored y"));
  CHECK(says(wrong, "torch.zeros"));
  wrong.memory.reset();
  CHECK(says(wrong, "No kernel changed"));
}

TEST_CASE("a sum that began with the poison is recognised") {
  WrongOutput wrong = base();
  wrong.memory = -917519;
  wrong.offset = -917519;
  CHECK(says(wrong, "The sum began with -917519, the value of memory"));
  wrong.offset = 2;
  CHECK(says(wrong, "A constant is added"));
}

TEST_CASE("factors, constants, rows and NaN have causes of their own") {
  WrongOutput wrong = base();
  wrong.ratio = 1.442695;
  CHECK(says(wrong, "log2 was used for log"));
  wrong.ratio = 3.7;
  CHECK(says(wrong, "One factor is wrong"));
  wrong.ratio.reset();
  wrong.row_ratios = {0.5, 0.6};
  CHECK(says(wrong, "Each row is scaled"));
  wrong.row_ratios.clear();
  wrong.constant = 4;
  CHECK(says(wrong, "stores one value"));
  wrong.constant.reset();
  wrong.nan.count = 1;
  CHECK(says(wrong, "inf - inf"));
}

TEST_CASE("otherwise the place decides, and then the size of the errors") {
  WrongOutput wrong = base();
  wrong.all.spans = {{0, 90, 99, 10, 0}};
  CHECK(says(wrong, "Only the end"));
  wrong.all.spans = {{0, 10, 19, 10, 0}};
  CHECK(says(wrong, "Only this part"));
  wrong.all.spans = {{0, 3, 99, 1, 4}};
  CHECK(says(wrong, "pattern repeats"));
  wrong.all.spans.clear();
  wrong.worst = {{.index = {1}, .expected = 100, .actual = 100.5, .inputs = {}}};
  CHECK(says(wrong, "below 1 %"));
  wrong.worst[0].actual = 120;
  CHECK(says(wrong, "no pattern of place"));
}

}  // namespace assay::tools
