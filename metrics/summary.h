// Computes the metrics of a suite, or of some of its operators, from the samples of each operator.
// An operator without a submission counts as a failure. A metric is absent if the times that it
// needs are missing. Pure functions, thread-safe.
//
//   std::vector<OperatorSamples> suite = {
//       {"vector_add", "standard", "elementwise", 1, {{.called = true, .right = true}}}};
//   Summary all = summarise(suite);  // all.pass_at_1->value == 1; all.perf_at_1 is empty
//   std::map<std::string, Summary> by_split =
//       summarise_by(suite, [](const OperatorSamples& op) { return op.split; });
//   std::vector<OperatorSamples> families =
//       joined_by(suite, [](const OperatorSamples& op) { return op.family; });
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/baseline.h"
#include "metrics/estimate.h"
#include "metrics/measures.h"

namespace assay::metrics {

/// One submission. Its speeds are absent if the device did not time it.
struct Sample {
  bool called = false;  // the submission ran to its end, right or wrong (call accuracy)
  bool right = false;   // the submission passed (TritonBench: execution accuracy)
  /// The ratio (baseline latency / submission latency), as a geometric mean over the timed cases.
  std::optional<double> perf = {};
  /// The ratio (PyTorch latency / submission latency), as a geometric mean over the timed cases.
  /// fast_p uses it.
  std::optional<double> speed_up_pytorch = {};
  /// Further metrics by key, such as "speed_up". summarise() averages each metric.
  std::map<std::string, double> values = {};
  /// The ratio (torch.compile latency / submission latency), as a geometric mean over the timed
  /// cases.
  std::optional<double> speed_up_torch_compile = {};
};

struct OperatorSamples {
  std::string name, split, family;
  int difficulty = 0;  // 1 to 5; 0: unknown
  std::vector<Sample> samples;
  /// With what Sample::perf compares. Absent if the samples differ.
  std::optional<Baseline> baseline = Baseline::oracle;
};

struct PassPoint {
  std::int64_t k = 1;
  Estimate call, execution;
};

struct Summary {
  std::int64_t operators = 0, samples = 0, right = 0;
  /// With what `perf_at_1` compares. Absent if the operators differ.
  std::optional<Baseline> baseline = Baseline::oracle;
  /// The share of right samples of each operator, averaged over the operators. TritonBench calls
  /// this value execution accuracy.
  std::optional<Estimate> pass_at_1;
  /// The share of samples of each operator that ran to their end, averaged over the operators.
  std::optional<Estimate> call_accuracy;
  /// The mean of `perf`; a failure counts as 0. Absent if a right sample was not timed, or if no
  /// sample is right, or if the operators have different baselines.
  std::optional<Estimate> perf_at_1;
  /// The mean of each key of Sample::values over the operators that have a right sample. A key is
  /// absent if a right sample lacks it.
  std::map<std::string, Estimate> means;
  /// The fast_p curves, computed from each operator's first sample. A curve is empty if no first
  /// sample is right, or if a right first sample was not timed. `fast_oracle` is also empty if an
  /// operator's baseline is not the oracle.
  std::vector<FastPoint> fast_oracle, fast_pytorch, fast_torch_compile;
};

Summary summarise(std::span<const OperatorSamples> suite);

/// Returns the baseline of all operators, or nothing if they differ. The baseline of an empty suite
/// is the oracle.
std::optional<Baseline> common_baseline(std::span<const OperatorSamples> suite);

/// Returns Perf@1 without its interval. Returns nothing if Summary::perf_at_1 would be absent.
std::optional<double> perf_at_1(std::span<const OperatorSamples> suite);

/// Returns the points of the pass@k curve: k = 1 to 8, then 16, 32 and so on. The last k is the
/// smallest number of samples that an operator has. Returns no points if an operator has no
/// samples.
std::vector<PassPoint> pass_curve(std::span<const OperatorSamples> suite);

using GroupKey = std::function<std::string(const OperatorSamples&)>;
std::map<std::string, Summary> summarise_by(std::span<const OperatorSamples> suite,
                                            const GroupKey& key);

/// Joins the operators that have the same key to one, whose name is the key. A sample of it is
/// right (or ran to its end) if that sample of every operator is. Its ratios are geometric means
/// over the operators, and its values arithmetic means; a mean is absent if an operator lacks it.
/// For example, an answer to a file of a benchmark is right if it is right for all operators of the
/// file. The key must not be empty.
std::vector<OperatorSamples> joined_by(std::span<const OperatorSamples> suite, const GroupKey& key);

}  // namespace assay::metrics
