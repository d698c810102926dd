#include "metrics/summary.h"

#include "tests/catch.h"

using namespace assay::metrics;

namespace {

Sample timed(double ratio) {
  return {true, true, ratio, 2 * ratio, {{"speed_up", ratio}, {"efficiency", 0.5 * ratio}}};
}
Sample untimed() { return {.called = true, .right = true}; }
Sample wrong() { return {.called = true}; }
Sample broken() { return {}; }

}  // namespace

TEST_CASE("a suite on a GPU: failures are 0 in perf, absent from the speed-up") {
  const std::vector<OperatorSamples> suite = {{"a", "standard", "f", 1, {timed(0.8)}},
                                              {"b", "standard", "f", 2, {timed(1.2)}},
                                              {"c", "ood", "g", 2, {wrong()}},
                                              {"d", "ood", "g", 3, {broken()}}};
  const Summary all = summarise(suite);
  CHECK(all.operators == 4);
  CHECK(all.right == 2);
  CHECK(all.pass_at_1->value == 0.5);
  CHECK(all.call_accuracy->value == 0.75);
  CHECK(all.perf_at_1->value == Approx(0.5));
  CHECK(all.means.at("speed_up").value == Approx(1.0));
  CHECK(all.means.at("speed_up").count == 2);
  CHECK(all.means.at("efficiency").value == Approx(0.5));
  REQUIRE(all.fast_oracle.size() == kFastThresholds.size());
  CHECK(all.fast_oracle.front().share == 0.5);
  CHECK(all.fast_torch_compile.empty());
  CHECK(pass_curve(suite).size() == 1);
  const auto by_split = summarise_by(suite, [](const OperatorSamples& op) { return op.split; });
  CHECK(by_split.at("standard").pass_at_1->value == 1);
  CHECK(by_split.at("ood").pass_at_1->value == 0);
  CHECK_FALSE(by_split.at("ood").perf_at_1);  // nothing was right, so nothing was timed
  CHECK(by_split.at("ood").fast_oracle.empty());
}

TEST_CASE("fast_p over torch.compile: the share of right ones that are faster than p times it") {
  Sample fast = timed(1), slow = timed(1);
  fast.speed_up_torch_compile = 2.5;
  slow.speed_up_torch_compile = 1.0;
  const Summary all = summarise(std::vector<OperatorSamples>{{"a", "s", "f", 1, {fast}},
                                                             {"b", "s", "f", 1, {slow}},
                                                             {"c", "s", "f", 1, {wrong()}},
                                                             {"d", "s", "f", 1, {broken()}}});
  const auto share = [&](double p) {
    for (const FastPoint& point : all.fast_torch_compile)
      if (point.p == p) return point.share;
    return -1.0;
  };
  CHECK(share(0) == 0.5);
  CHECK(share(1) == 0.25);
  CHECK(share(2) == 0.25);
  CHECK(share(3) == 0.0);
}

TEST_CASE("Perf of different baselines is not averaged") {
  using assay::Baseline;
  std::vector<OperatorSamples> suite = {{"a", "s", "f", 1, {timed(0.8)}, Baseline::torch_eager},
                                        {"b", "s", "f", 1, {timed(1.2)}, Baseline::torch_eager}};
  const Summary alike = summarise(suite);
  CHECK(alike.baseline == Baseline::torch_eager);
  CHECK(alike.perf_at_1->value == Approx(1.0));
  CHECK(alike.fast_oracle.empty());  // nothing is known about the speed of an oracle
  CHECK_FALSE(alike.fast_pytorch.empty());
  for (const std::optional<Baseline> other : {std::optional(Baseline::oracle), {}}) {
    suite[1].baseline = other;
    const Summary mixed = summarise(suite);
    CHECK_FALSE(mixed.baseline);
    CHECK_FALSE(mixed.perf_at_1);
    CHECK_FALSE(perf_at_1(suite));
    CHECK(mixed.fast_oracle.empty());
    CHECK(mixed.pass_at_1->value == 1);
  }
  CHECK(common_baseline({}) == Baseline::oracle);
}

TEST_CASE("without times there is no perf, no speed-up, no curve") {
  const Summary all = summarise(std::vector<OperatorSamples>{{"a", "s", "f", 1, {untimed()}},
                                                             {"b", "s", "f", 1, {timed(1)}},
                                                             {"c", "s", "f", 1, {wrong()}}});
  CHECK(all.pass_at_1->value == Approx(2.0 / 3));
  CHECK_FALSE(all.perf_at_1);
  CHECK(all.means.empty());
  CHECK(all.fast_oracle.empty());
}

TEST_CASE("several samples: pass@1 is the mean share, pass@k grows with k") {
  const std::vector<OperatorSamples> suite = {
      {"a", "s", "f", 1, {timed(1), wrong(), wrong(), broken()}},
      {"b", "s", "f", 1, {broken(), broken(), broken(), broken()}}};
  const Summary all = summarise(suite);
  CHECK(all.samples == 8);
  CHECK(all.pass_at_1->value == Approx(0.125));
  const std::vector<PassPoint> curve = pass_curve(suite);
  REQUIRE(curve.size() == 4);
  CHECK(curve[0].execution.value == Approx(all.pass_at_1->value));
  CHECK(curve[1].execution.value == Approx(0.25));  // (1 - C(3,2)/C(4,2)) / 2
  CHECK(curve[1].call.value == Approx(0.5));        // 3 of 4 samples ran, so one of any two ran
  CHECK(curve[3].execution.value == Approx(0.5));
}

TEST_CASE("an operator without a sample is a failure, and an empty suite has no figures") {
  const Summary one = summarise(
      std::vector<OperatorSamples>{{"a", "s", "f", 1, {timed(1)}}, {"b", "s", "f", 1, {}}});
  CHECK(one.pass_at_1->value == 0.5);
  CHECK(one.perf_at_1->value == 0.5);
  const Summary none = summarise({});
  CHECK_FALSE(none.pass_at_1);
  CHECK(pass_curve({}).empty());
}

TEST_CASE("the points of a long curve") {
  const std::vector<OperatorSamples> suite = {
      {"a", "s", "f", 1, std::vector<Sample>(20, untimed())}};
  std::vector<std::int64_t> ks;
  for (const PassPoint& point : pass_curve(suite)) ks.push_back(point.k);
  CHECK(ks == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 16, 20});
}

TEST_CASE("an answer to a file of a benchmark is right if all operators of the file are") {
  const std::vector<OperatorSamples> suite = {
      {"a", "s", "one.py", 2, {timed(0.5), timed(1)}},
      {"b", "s", "two.py", 3, {timed(3), wrong()}},
      {"c", "s", "one.py", 2, {timed(2), broken()}},
  };
  const std::vector<OperatorSamples> files =
      joined_by(suite, [](const OperatorSamples& op) { return op.family; });
  REQUIRE(files.size() == 2);
  CHECK(files[0].name == "one.py");
  CHECK(files[0].difficulty == 2);
  CHECK(files[0].samples[0].right);
  CHECK(*files[0].samples[0].perf == Approx(1));                     // the geometric mean
  CHECK(files[0].samples[0].values.at("speed_up") == Approx(1.25));  // the arithmetic mean
  CHECK_FALSE(files[0].samples[1].called);
  CHECK_FALSE(files[0].samples[1].right);
  CHECK_FALSE(files[0].samples[1].perf);
  CHECK(files[0].samples[1].values.empty());
  CHECK(files[1].samples[1].called);
  const Summary all = summarise(files);
  CHECK(all.operators == 2);
  CHECK(all.pass_at_1->value == Approx(0.5));
  CHECK(all.call_accuracy->value == Approx(0.75));
}
