// Recomputes the figures of published tables from the inputs that the same tables print. The inputs
// are rounded, so each computed figure is an interval. The printed figure is rounded too, so it
// also stands for an interval. It counts as reproduced if the two intervals overlap.
#include <cmath>
#include <string>
#include <vector>

#include "metrics/measures.h"
#include "tests/catch.h"

using namespace assay::metrics;

namespace {

struct Range {
  double low, high;
};

/// Returns the range of numbers that round to `value`. `step` is the unit of the last printed
/// digit.
Range printed(double value, double step) { return {value - step / 2, value + step / 2}; }
Range over(Range a, Range b) { return {a.low / b.high, a.high / b.low}; }
bool meet(Range a, Range b) { return a.low <= b.high && b.low <= a.high; }

struct CostRow {
  const char* model;
  double cost, pass_percent, perf, per_pass, per_perf;
};

/// The table "Cost-Effectiveness" of TritonGym (project page of the ICML 2026 paper). It is about
/// three agents and 164 operators.
const CostRow kTritonGym[] = {
    {"Qwen-3", 24.08, 40.1, 0.404, 60.1, 59.6},
    {"GPT-5", 86.06, 25.4, 0.206, 339.0, 417.8},
    {"Claude-4.5", 135.13, 36.7, 0.326, 368.0, 414.5},
};

struct GeakTable {
  const char* name;
  std::vector<DifficultyRow> rows;  // one row for each difficulty from 1 to 5
  std::int64_t right;
  double percent, speed_up;
};

/// Tables 3 to 6 of GEAK's article (arXiv 2507.23194). They are about TritonBench-modified, which
/// has 184 kernels.
const std::vector<GeakTable> kGeak = {
    {"table 3: MI250, without optimizer",
     {{2, 3, 1.27}, {20, 27, 1.12}, {42, 65, 1.94}, {32, 84, 1.43}, {0, 5, {}}},
     96,
     52.17,
     1.61},
    {"table 4: MI300X, without optimizer",
     {{3, 3, 1.16}, {20, 27, 1.17}, {38, 65, 2.13}, {33, 84, 1.91}, {0, 5, {}}},
     94,
     51.08,
     1.81},
    {"table 5: MI250X",
     {{2, 3, 1.24}, {23, 27, 4.78}, {39, 65, 1.57}, {32, 84, 2.24}, {1, 5, 0.14}},
     97,
     52.72,
     2.42},
    {"table 6: MI300X",
     {{3, 3, 1.16}, {22, 27, 1.69}, {41, 65, 3.02}, {34, 84, 2.86}, {1, 5, 0.61}},
     101,
     54.89,
     2.59},
};

struct Share {
  const char* of;
  std::int64_t right, total;
  double percent;
};

/// Rows from GEAK's article: rows by difficulty from tables 3 to 6, and rows about the 30 ROCm
/// kernels.
const Share kGeakShares[] = {
    {"table 3, difficulty 1", 2, 3, 66.67},   {"table 3, difficulty 2", 20, 27, 74.07},
    {"table 3, difficulty 3", 42, 65, 64.62}, {"table 3, difficulty 4", 32, 84, 38.10},
    {"table 3, difficulty 5", 0, 5, 0.00},    {"table 4, difficulty 1", 3, 3, 100.00},
    {"table 4, difficulty 3", 38, 65, 58.46}, {"table 4, difficulty 4", 33, 84, 39.29},
    {"table 4, ROCm", 12, 30, 40.00},         {"table 5, difficulty 2", 23, 27, 85.19},
    {"table 5, difficulty 3", 39, 65, 60.00}, {"table 5, difficulty 4", 32, 84, 38.10},
    {"table 5, difficulty 5", 1, 5, 20.00},   {"table 6, difficulty 2", 22, 27, 81.48},
    {"table 6, difficulty 3", 41, 65, 63.08}, {"table 6, difficulty 4", 34, 84, 40.48},
    {"table 6, ROCm", 19, 30, 63.33},
};

Range overall_speed_up(std::vector<DifficultyRow> rows) {
  Range range{};
  for (const double shift : {-0.005, 0.005}) {
    std::vector<DifficultyRow> shifted = rows;
    for (DifficultyRow& row : shifted) {
      if (row.speed_up) row.speed_up = *row.speed_up + shift;
    }
    (shift < 0 ? range.low : range.high) = overall(shifted).speed_up.value();
  }
  return range;
}

}  // namespace

TEST_CASE("TritonGym's cost per pass and per perf are cost over rate") {
  for (const CostRow& row : kTritonGym) {
    INFO(row.model);
    const Range cost = printed(row.cost, 0.01);
    CHECK(meet(over(cost, printed(row.pass_percent / 100, 0.001)), printed(row.per_pass, 0.1)));
    CHECK(meet(over(cost, printed(row.perf, 0.001)), printed(row.per_perf, 0.1)));
  }
  CHECK(cost_per_rate(24.08, 0.401).value() == Approx(60.05).margin(0.005));
  CHECK(cost_per_rate(24.08, 0.404).value() == Approx(59.6).margin(0.05));
}

TEST_CASE("the true cost per solved operator is another number") {
  const auto solved =
      static_cast<std::int64_t>(std::llround(0.401 * 3 * 164));  // three agents, 164 operators
  CHECK(solved == 197);
  CHECK(cost_per_solved(24.08, solved).value() == Approx(0.1222).margin(1e-4));
  CHECK_FALSE(cost_per_solved(24.08, 0));
  CHECK_FALSE(cost_per_rate(24.08, 0));
}

TEST_CASE("GEAK's accuracies by difficulty are right over total") {
  for (const Share& share : kGeakShares) {
    INFO(share.of);
    const OverallRow row = overall(std::vector<DifficultyRow>{{share.right, share.total, {}}});
    CHECK(100 * row.execution_accuracy == Approx(share.percent).margin(0.0051));
  }
  // Table 4 prints 74.04 for 20 of 27 kernels of difficulty 2. That is a misprint: table 3 prints
  // 74.07 for 20 of 27.
  CHECK(100 * overall(std::vector<DifficultyRow>{{20, 27, {}}}).execution_accuracy ==
        Approx(74.074).margin(0.001));
}

TEST_CASE("GEAK's overall accuracy follows from its rows") {
  for (const GeakTable& table : kGeak) {
    INFO(table.name);
    const OverallRow row = overall(table.rows);
    CHECK(row.right == table.right);
    CHECK(row.total == 184);
    // Table 4 prints 51.08 for 94 / 184 = 51.087 %, so the number was cut off, not rounded. The
    // margin is therefore a whole unit of the last digit.
    CHECK(100 * row.execution_accuracy == Approx(table.percent).margin(0.01));
  }
}

TEST_CASE("GEAK's overall speed-ups of tables 4 and 6 are the means over right kernels") {
  for (const std::size_t index : {1U, 3U}) {
    INFO(kGeak[index].name);
    CHECK(meet(overall_speed_up(kGeak[index].rows), printed(kGeak[index].speed_up, 0.01)));
  }
}

TEST_CASE("GEAK's overall speed-ups of tables 3 and 5 do not follow from their rows") {
  // The article prints 1.61 for rows that give 1.585, and 2.42 for rows that give 2.53. This test
  // fails if someone changes the formula so that the printed figures fit.
  CHECK(overall(kGeak[0].rows).speed_up.value() == Approx(1.585).margin(0.001));
  CHECK(overall(kGeak[2].rows).speed_up.value() == Approx(2.531).margin(0.001));
  CHECK_FALSE(meet(overall_speed_up(kGeak[0].rows), printed(kGeak[0].speed_up, 0.01)));
  CHECK_FALSE(meet(overall_speed_up(kGeak[2].rows), printed(kGeak[2].speed_up, 0.01)));
}

TEST_CASE("the overall speed-up is absent if a row with right kernels has none") {
  CHECK_FALSE(overall(std::vector<DifficultyRow>{{1, 2, {}}, {1, 2, 2.0}}).speed_up);
  CHECK(overall(std::vector<DifficultyRow>{{0, 2, {}}, {1, 2, 2.0}}).speed_up == 2.0);
}
