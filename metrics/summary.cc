#include "metrics/summary.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "metrics/measures.h"

namespace assay::metrics {
namespace {

constexpr std::int64_t kEachK = 8;  // the largest k up to which a curve has a point for every k

using Ratio = std::optional<double> Sample::*;

std::int64_t count(const OperatorSamples& op, bool Sample::*flag) {
  return std::count_if(op.samples.begin(), op.samples.end(),
                       [flag](const Sample& sample) { return sample.*flag; });
}

/// Returns for each operator the share of its samples for which `flag` is true. The share is 0 if
/// an operator has no sample.
std::vector<double> shares(std::span<const OperatorSamples> suite, bool Sample::*flag) {
  std::vector<double> values;
  for (const OperatorSamples& op : suite) {
    values.push_back(op.samples.empty() ? 0
                                        : static_cast<double>(count(op, flag)) /
                                              static_cast<double>(op.samples.size()));
  }
  return values;
}

bool all_right_ones_have(std::span<const OperatorSamples> suite, Ratio ratio) {
  return std::all_of(suite.begin(), suite.end(), [ratio](const OperatorSamples& op) {
    return std::all_of(op.samples.begin(), op.samples.end(), [ratio](const Sample& sample) {
      return !sample.right || (sample.*ratio).has_value();
    });
  });
}

/// Returns for each operator the mean of `ratio` over the operator's samples. A failure counts as
/// 0.
std::vector<double> with_failures(std::span<const OperatorSamples> suite, Ratio ratio) {
  std::vector<double> values;
  for (const OperatorSamples& op : suite) {
    double sum = 0;
    for (const Sample& sample : op.samples) sum += sample.right ? *(sample.*ratio) : 0;
    values.push_back(op.samples.empty() ? 0 : sum / static_cast<double>(op.samples.size()));
  }
  return values;
}

/// Returns the Perf of each operator, or an empty list if the suite has no Perf@1.
std::vector<double> perfs(std::span<const OperatorSamples> suite) {
  const bool any_right = std::any_of(suite.begin(), suite.end(), [](const OperatorSamples& op) {
    return count(op, &Sample::right) > 0;
  });
  return any_right && common_baseline(suite) && all_right_ones_have(suite, &Sample::perf)
             ? with_failures(suite, &Sample::perf)
             : std::vector<double>();
}

/// Returns the mean of the metric `key`: first over the right samples of each operator, then over
/// the operators that have a right sample. Returns nothing if a right sample lacks the key.
std::optional<Estimate> mean_of_right_ones(std::span<const OperatorSamples> suite,
                                           const std::string& key) {
  std::vector<double> means;
  for (const OperatorSamples& op : suite) {
    double sum = 0;
    std::int64_t right = 0;
    for (const Sample& sample : op.samples) {
      if (!sample.right) continue;
      const auto found = sample.values.find(key);
      if (found == sample.values.end()) return std::nullopt;
      sum += found->second;
      ++right;
    }
    if (right > 0) means.push_back(sum / static_cast<double>(right));
  }
  return estimate(means);
}

std::set<std::string> keys_of(std::span<const OperatorSamples> suite) {
  std::set<std::string> keys;
  for (const OperatorSamples& op : suite) {
    for (const Sample& sample : op.samples) {
      for (const auto& [key, value] : sample.values) keys.insert(key);
    }
  }
  return keys;
}

std::vector<FastPoint> curve_of_first(std::span<const OperatorSamples> suite, Ratio ratio) {
  std::vector<Speed> speeds;
  for (const OperatorSamples& op : suite) {
    const Sample first = op.samples.empty() ? Sample{} : op.samples.front();
    speeds.push_back({first.right, first.*ratio});
  }
  // If no first sample is right, none of them was timed. The result is then empty, because a curve
  // of zeros would look like a measured curve.
  if (std::none_of(speeds.begin(), speeds.end(), [](const Speed& speed) { return speed.right; }))
    return {};
  return fast_curve(speeds);
}

std::optional<Estimate> pass_estimate(std::span<const OperatorSamples> suite, bool Sample::*flag,
                                      std::int64_t k) {
  std::vector<double> values;
  for (const OperatorSamples& op : suite) {
    const Result<double> value =
        pass_at_k(static_cast<std::int64_t>(op.samples.size()), count(op, flag), k);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return estimate_share(values);
}

/// Returns the geometric mean of a ratio over the samples with this index. Returns nothing if an
/// operator lacks the ratio.
std::optional<double> joined_ratio(std::span<const OperatorSamples> group, std::size_t index,
                                   Ratio ratio) {
  double logarithms = 0;
  for (const OperatorSamples& op : group) {
    const std::optional<double>& value = op.samples[index].*ratio;
    if (!value || !(*value > 0)) return std::nullopt;
    logarithms += std::log(*value);
  }
  return std::exp(logarithms / static_cast<double>(group.size()));
}

std::map<std::string, double> joined_values(std::span<const OperatorSamples> group,
                                            std::size_t index) {
  std::map<std::string, double> means = group.front().samples[index].values;
  for (auto& [key, mean] : means) mean = 0;
  for (const OperatorSamples& op : group) {
    const std::map<std::string, double>& values = op.samples[index].values;
    for (auto it = means.begin(); it != means.end();) {
      const auto found = values.find(it->first);
      if (found != values.end()) it->second += found->second / static_cast<double>(group.size());
      it = found == values.end() ? means.erase(it) : std::next(it);
    }
  }
  return means;
}

OperatorSamples joined(const std::string& name, std::span<const OperatorSamples> group) {
  OperatorSamples all = group.front();
  all.name = name;
  all.baseline = common_baseline(group);
  all.samples.clear();
  const auto least = std::min_element(group.begin(), group.end(), [](const auto& a, const auto& b) {
    return a.samples.size() < b.samples.size();
  });
  for (std::size_t i = 0; i < least->samples.size(); ++i) {
    const auto every = [&](bool Sample::*flag) {
      return std::all_of(group.begin(), group.end(),
                         [&](const OperatorSamples& op) { return op.samples[i].*flag; });
    };
    all.samples.push_back(
        {.called = every(&Sample::called),
         .right = every(&Sample::right),
         .perf = joined_ratio(group, i, &Sample::perf),
         .speed_up_pytorch = joined_ratio(group, i, &Sample::speed_up_pytorch),
         .values = joined_values(group, i),
         .speed_up_torch_compile = joined_ratio(group, i, &Sample::speed_up_torch_compile)});
  }
  return all;
}

}  // namespace

Summary summarise(std::span<const OperatorSamples> suite) {
  Summary summary;
  summary.operators = static_cast<std::int64_t>(suite.size());
  summary.baseline = common_baseline(suite);
  for (const OperatorSamples& op : suite) {
    summary.samples += static_cast<std::int64_t>(op.samples.size());
    summary.right += count(op, &Sample::right);
  }
  summary.pass_at_1 = estimate_share(shares(suite, &Sample::right));
  summary.call_accuracy = estimate_share(shares(suite, &Sample::called));
  if (const std::vector<double> values = perfs(suite); !values.empty())
    summary.perf_at_1 = estimate(values);
  for (const std::string& key : keys_of(suite)) {
    if (const std::optional<Estimate> mean = mean_of_right_ones(suite, key))
      summary.means.emplace(key, *mean);
  }
  if (summary.baseline == Baseline::oracle)
    summary.fast_oracle = curve_of_first(suite, &Sample::perf);
  summary.fast_pytorch = curve_of_first(suite, &Sample::speed_up_pytorch);
  summary.fast_torch_compile = curve_of_first(suite, &Sample::speed_up_torch_compile);
  return summary;
}

std::optional<Baseline> common_baseline(std::span<const OperatorSamples> suite) {
  if (suite.empty()) return Baseline::oracle;
  const std::optional<Baseline> first = suite.front().baseline;
  const bool alike = std::all_of(suite.begin(), suite.end(),
                                 [&](const OperatorSamples& op) { return op.baseline == first; });
  return alike ? first : std::nullopt;
}

std::optional<double> perf_at_1(std::span<const OperatorSamples> suite) {
  const std::vector<double> values = perfs(suite);
  if (values.empty()) return std::nullopt;
  return mean(values);
}

std::vector<PassPoint> pass_curve(std::span<const OperatorSamples> suite) {
  if (suite.empty()) return {};
  const auto least = std::min_element(suite.begin(), suite.end(), [](const auto& a, const auto& b) {
    return a.samples.size() < b.samples.size();
  });
  const auto samples = static_cast<std::int64_t>(least->samples.size());
  std::vector<PassPoint> curve;
  for (std::int64_t k = 1; k <= samples;
       k = k < kEachK || k == samples ? k + 1 : std::min(2 * k, samples)) {
    const std::optional<Estimate> call = pass_estimate(suite, &Sample::called, k);
    const std::optional<Estimate> execution = pass_estimate(suite, &Sample::right, k);
    if (!call || !execution) return {};
    curve.push_back({k, *call, *execution});
  }
  return curve;
}

std::map<std::string, Summary> summarise_by(std::span<const OperatorSamples> suite,
                                            const GroupKey& key) {
  std::map<std::string, std::vector<OperatorSamples>> groups;
  for (const OperatorSamples& op : suite) groups[key(op)].push_back(op);
  std::map<std::string, Summary> summaries;
  for (const auto& [name, group] : groups) summaries.emplace(name, summarise(group));
  return summaries;
}

std::vector<OperatorSamples> joined_by(std::span<const OperatorSamples> suite,
                                       const GroupKey& key) {
  std::map<std::string, std::vector<OperatorSamples>> groups;
  for (const OperatorSamples& op : suite) groups[key(op)].push_back(op);
  std::vector<OperatorSamples> out;
  for (const auto& [name, group] : groups) out.push_back(joined(name, group));
  return out;
}

}  // namespace assay::metrics
