#include "sandbox/job/wrong_output.h"

#include <limits>

#include "tests/catch.h"

namespace assay::sandbox {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Region region(std::vector<AxisSpan> spans, double share = 1) {
  return {.count = 5, .share = share, .spans = std::move(spans)};
}

WrongOutput softmax() {
  WrongOutput wrong;
  wrong.output = "y";
  wrong.shape = {7, 333};
  wrong.elements = 2331;
  wrong.allowed = 0.01;
  wrong.scale = 333;
  wrong.all.count = 133;
  wrong.worst = {{{0, 319}, 0.25, 0.5, {{"x", 2}}}, {{1, 2}, 0.25, 0.125, {}}};
  return wrong;
}

}  // namespace

TEST_CASE("a region is named by rows, columns, elements and periods") {
  CHECK(region_text(region({{1, 332, 332, 1, 0}}), {7, 333}) == "column 332 of every row");
  CHECK(region_text(region({{0, 3, 3, 1, 0}}), {7, 333}) == "row 3, every column");
  CHECK(region_text(region({{0, 64, 127, 64, 0}}), {256, 9}) == "rows 64 to 127");
  CHECK(region_text(region({{1, 64, 332, 269, 0}}), {7, 333}) == "columns from 64 on");
  CHECK(region_text(region({{0, 4096, 4111, 16, 0}}), {4112}) == "every element from 4096 on");
  CHECK(region_text(region({{0, 64, 4095, 64, 128}}), {4112}) == "elements 64 to 127 of every 128");
  CHECK(region_text(region({{0, 3, 4095, 1, 4}}), {4112}) == "element 3 of every 4");
  CHECK(region_text(region({{kFlat, 9, 20, 12, 0}}), {7, 333}) == "flat indexes 9 to 20");
  CHECK(region_text(region({{2, 1, 1, 1, 0}}), {2, 3, 4}) == "axis 2 index 1");
  CHECK(region_text(region({{0, 0, 1, 2, 0}, {1, 4, 5, 2, 0}}, 0.75), {7, 333}) ==
        "rows 0 to 1, columns 4 to 5 (75 % of them)");
  CHECK(region_text(region({}), {7}).empty());
}

TEST_CASE("elements that were not stored are told apart from a NaN that was computed") {
  WrongOutput wrong = softmax();
  wrong.memory = kNan;
  wrong.unstored = {.count = 7, .share = 1, .spans = {{1, 332, 332, 1, 0}}};
  wrong.nan = {.count = 1, .share = 1, .spans = {}};
  CHECK(wrong_text({wrong}) ==
        "output y: 133 of 2331 elements are off by more than 0.01 (error times 333); 7 have the "
        "NaN that memory had before (not stored): column 332 of every row; 1 has a NaN that was "
        "computed; expected -> got: [0, 319] 0.25 -> 0.5 (x 2), [1, 2] 0.25 -> 0.125");
}

TEST_CASE("the poison of integers is named, and unchanged inputs are") {
  WrongOutput wrong;
  wrong.output = "counts";
  wrong.shape = {37};
  wrong.elements = wrong.all.count = wrong.unstored.count = 37;
  wrong.memory = -917519;
  CHECK(
      wrong_text({wrong}) ==
      "output counts: 37 of 37 elements differ; all of them have the value -917519 that memory had "
      "before (not stored)");
  wrong.memory.reset();
  CHECK(
      wrong_text({wrong}).ends_with("all of them have the input's value that memory had before "
                                    "(not stored)"));
}

TEST_CASE("a relation is told, and then one element is enough") {
  WrongOutput wrong = softmax();
  wrong.ratio = 2;
  CHECK(
      wrong_text({wrong}).ends_with("; each is 2 * expected; expected -> got: [0, 319] 0.25 -> "
                                    "0.5 (x 2)"));
  wrong.ratio.reset();
  wrong.offset = -1;
  CHECK(wrong_text({wrong}).find("; each is expected - 1;") != std::string::npos);
  wrong.offset.reset();
  wrong.constant = 0;
  CHECK(wrong_text({wrong}).find("; each is 0;") != std::string::npos);
  wrong.constant.reset();
  wrong.row_ratios = {0.5, 0.75};
  CHECK(wrong_text({wrong}).find("; each row has a factor of its own, 0.5 to 0.75;") !=
        std::string::npos);
}

TEST_CASE("a text stays short: one output in full, and no elements beyond its room") {
  WrongOutput wrong = softmax();
  CHECK(wrong_text({}).empty());
  CHECK(wrong_text({wrong, wrong})
            .ends_with("; output y: 133 of 2331 elements are off by more "
                       "than 0.01 (error times 333)"));
  const std::string name(200, 'x');
  wrong.worst[0].inputs = wrong.worst[1].inputs = {{name, 1.0}};
  const std::string text = wrong_text({wrong});
  CHECK(text.find("[0, 319]") != std::string::npos);
  CHECK(text.find("[1, 2]") == std::string::npos);
}

}  // namespace assay::sandbox
