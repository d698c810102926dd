// Computes the metrics of a suite, or of a part of it, from the samples of each operator. An
// operator without a submission counts as a failure. A metric whose times are missing is absent,
// never guessed. Pure, thread-safe.
//
//   std::vector<OperatorSamples> suite = {
//       {"vector_add", "standard", "elementwise", 1, {{.called = true, .right = true}}}};
//   Summary all = summarise(suite);  // all.pass_at_1->value == 1, and no all.perf_at_1
//   auto by_split = summarise_by(suite, [](const OperatorSamples& op) { return op.split; });
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/estimate.h"
#include "metrics/published.h"

namespace assay::metrics {

/// One submission. A value is absent where the device did not time it.
struct Sample {
  bool called = false;  // ran to its end, right or wrong: TritonBench's call accuracy
  bool right = false;   // TritonBench's execution accuracy
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
  /// Mean of `perf` with failures as 0. Absent where a right sample was not timed, or none is
  /// right.
  std::optional<Estimate> perf_at_1;
  /// For each key of Sample::values the mean over operators with a right sample. A key that one of
  /// the right samples lacks is absent.
  std::map<std::string, Estimate> means;
  /// Curves of the first samples. Empty where a right one was not timed.
  std::vector<FastPoint> fast_oracle, fast_pytorch;
};

Summary summarise(std::span<const OperatorSamples> suite);

/// Perf@1 alone, without its interval. Reports and scorecards share this rule for when it exists.
std::optional<double> perf_at_1(std::span<const OperatorSamples> suite);

/// Points for k = 1 to 8, then for doubled k, up to the smallest number of samples of an operator,
/// which is the last point. Empty without samples.
std::vector<PassPoint> pass_curve(std::span<const OperatorSamples> suite);

using GroupKey = std::function<std::string(const OperatorSamples&)>;
std::map<std::string, Summary> summarise_by(std::span<const OperatorSamples> suite,
                                            const GroupKey& key);

}  // namespace assay::metrics
