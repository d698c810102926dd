// Computes the metrics of a suite, or of a part of it, from the samples of each operator. An
// operator without a submission counts as a failure. A metric is absent if the times that it needs
// are missing. Pure, thread-safe.
//
//   std::vector<OperatorSamples> suite = {
//       {"vector_add", "standard", "elementwise", 1, {{.called = true, .right = true}}}};
//   Summary all = summarise(suite);  // all.pass_at_1->value == 1, and no all.perf_at_1
//   std::map<std::string, Summary> by_split =
//       summarise_by(suite, [](const OperatorSamples& op) { return op.split; });
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/estimate.h"
#include "metrics/measures.h"

namespace assay::metrics {

/// One submission. A value is absent if the device did not time it.
struct Sample {
  bool called = false;  // ran to its end, right or wrong (TritonBench: call accuracy)
  bool right = false;   // passed (TritonBench: execution accuracy)
  /// Geometric mean over the timed cases of oracle latency / submission latency.
  std::optional<double> perf = {};
  /// Geometric mean over the timed cases of PyTorch latency / submission latency, for fast_p.
  std::optional<double> speed_up_pytorch = {};
  /// Further metrics by key, e.g. "speed_up". summarise() averages each of them.
  std::map<std::string, double> values = {};
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
  /// Mean over the operators of the share of right samples; this is also the execution accuracy.
  std::optional<Estimate> pass_at_1;
  /// Mean over the operators of the share of samples that ran to their end.
  std::optional<Estimate> call_accuracy;
  /// Mean of `perf` with failures as 0. Absent if a right sample was not timed, or if none is
  /// right.
  std::optional<Estimate> perf_at_1;
  /// For each key of Sample::values, the mean over the operators that have a right sample. A key is
  /// absent if a right sample lacks it.
  std::map<std::string, Estimate> means;
  /// fast_p curves of each operator's first sample. Empty if a right sample was not timed.
  std::vector<FastPoint> fast_oracle, fast_pytorch;
};

Summary summarise(std::span<const OperatorSamples> suite);

/// Perf@1 alone, without its interval. Absent under the same conditions as Summary::perf_at_1.
std::optional<double> perf_at_1(std::span<const OperatorSamples> suite);

/// Points for k = 1 to 8, and then for doubled k. The last point is the smallest number of samples
/// that an operator has. Empty without samples.
std::vector<PassPoint> pass_curve(std::span<const OperatorSamples> suite);

using GroupKey = std::function<std::string(const OperatorSamples&)>;
std::map<std::string, Summary> summarise_by(std::span<const OperatorSamples> suite,
                                            const GroupKey& key);

}  // namespace assay::metrics
