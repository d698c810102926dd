// The metrics of a suite, or of a part of it, from what became of each operator's samples. An
// operator without a submission is a failure. What was not timed is absent, never guessed. Pure,
// thread-safe.
//
//   std::vector<OperatorSamples> suite = {{"vector_add", "standard", "elementwise", 1, {{.called =
//   true, .right = true}}}}; Summary all = summarise(suite);                       //
//   all.pass_at_1->value == 1, no all.perf_at_1 auto by_split = summarise_by(suite, [](const
//   OperatorSamples& op) { return op.split; });
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/estimate.h"
#include "metrics/fast_p.h"

namespace assay::metrics {

/// One submission. The ratios are there where the device timed it.
struct Sample {
  bool called = false;  // ran to its end, right or wrong: TritonBench's call accuracy
  bool right = false;   // its execution accuracy
  std::optional<double>
      perf;  // geometric mean over the timed cases of oracle latency / submission latency
  std::optional<double> speed_up;  // arithmetic mean of the same, as TritonBench and GEAK have it
  std::optional<double> speed_up_pytorch;  // geometric mean over the timed cases of PyTorch's
                                           // latency / submission latency, for fast_p
  std::optional<double> efficiency;        // mean over the cases of the share of the device's peak
  std::optional<double> peak_efficiency =
      {};  // of the case with the largest share: TritonBench's definition
};

struct OperatorSamples {
  std::string name, split, family;
  int difficulty = 0;  // 1 to 5; 0: unknown
  std::vector<Sample> samples;
};

struct PassPoint {
  std::int64_t k = 1;
  Estimate call, execution;
};

struct Summary {
  std::int64_t operators = 0, samples = 0, right = 0;
  std::optional<Estimate> pass_at_1;  // mean over the operators of the share of right samples
  std::optional<Estimate>
      call_accuracy;  // the same of those that ran to their end; execution accuracy is pass_at_1
  std::optional<Estimate>
      perf_at_1;  // failures are 0; absent where a right sample was not timed, or nothing was right
  std::optional<Estimate>
      speed_up;  // over operators with a right sample; absent where one was not timed
  std::optional<Estimate> efficiency, peak_efficiency;  // the same
  std::vector<FastPoint> fast_oracle,
      fast_pytorch;  // of the first sample; empty where a right one was not timed
};

Summary summarise(std::span<const OperatorSamples> suite);

/// Perf@1 alone, without its interval: the one rule of reports and scorecards for when there is
/// one.
std::optional<double> perf_at_1(std::span<const OperatorSamples> suite);

/// For k from 1 to the least number of samples of an operator: each up to 8, then doubling, and
/// that number itself. Empty without samples.
std::vector<PassPoint> pass_curve(std::span<const OperatorSamples> suite);

using GroupKey = std::function<std::string(const OperatorSamples&)>;
std::map<std::string, Summary> summarise_by(std::span<const OperatorSamples> suite,
                                            const GroupKey& key);

}  // namespace assay::metrics
