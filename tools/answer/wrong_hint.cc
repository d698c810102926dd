#include "tools/answer/wrong_hint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tools/answer/answers.h"

namespace assay::tools {
namespace {

using sandbox::Region;
using sandbox::WrongOutput;

struct KnownFactor {
  double factor;
  const char* cause;
};
// Factors between actual and expected values, and what causes them.
constexpr std::array<KnownFactor, 6> kFactors{{
    {1.4426950408889634, "The factor is 1 / ln 2: log2 was used for log."},
    {0.6931471805599453,
     "The factor is ln 2: log was used for log2, or a factor of log2(e) misses."},
    {2.0, "Each element is doubled: look for a sum or an atomic that runs twice."},
    {0.5, "Each element is halved: look for a missing half of the sum, or for a factor of 2."},
    {-1.0, "The sign is inverted."},
    {0.0, "The kernel stores zeros."},
}};
constexpr double kFactorTolerance = 1e-3;
constexpr double kSmallError = 0.01;  // of the expected value

bool is_near(double value, double wanted) { return std::abs(value - wanted) <= kFactorTolerance; }

/// Returns the value of memory that nothing was stored to. Whole numbers have all their digits.
std::string initial_text(double value) {
  constexpr double kExact = 1e15;
  return std::trunc(value) == value && std::abs(value) < kExact
             ? std::to_string(static_cast<long long>(value))
             : number_text(value);
}

/// Returns whether the elements are a proper part of the output with a simple pattern.
bool has_pattern(const Region& region) { return !region.spans.empty(); }

bool repeats(const Region& region) {
  return std::any_of(region.spans.begin(), region.spans.end(),
                     [](const sandbox::AxisSpan& span) { return span.period != 0; });
}

/// Returns whether the elements are the end of an axis.
bool is_tail(const WrongOutput& wrong) {
  return std::any_of(wrong.all.spans.begin(), wrong.all.spans.end(),
                     [&](const sandbox::AxisSpan& span) {
                       if (span.period != 0) return false;
                       if (span.axis == sandbox::kFlat) return span.last == wrong.elements - 1;
                       const auto axis = static_cast<std::size_t>(span.axis);
                       return axis < wrong.shape.size() && span.last == wrong.shape[axis] - 1;
                     });
}

/// Returns whether the largest errors are small beside the expected values.
bool is_close(const WrongOutput& wrong) {
  return !wrong.worst.empty() &&
         std::all_of(wrong.worst.begin(), wrong.worst.end(), [](const auto& element) {
           return std::abs(element.actual - element.expected) <
                  kSmallError * std::abs(element.expected);
         });
}

std::string after_unstored(const WrongOutput& wrong) {
  if (!wrong.memory)
    return "No kernel changed these elements: check the store's mask and the grid.";
  if (wrong.unstored.count < wrong.elements) return "Check the store's mask and the grid.";
  return "No kernel stored " + wrong.output +
         ": check its pointer and the grid. A target of atomics begins with zeros (torch.zeros).";
}

std::string after_factor(double ratio) {
  const auto known = std::find_if(kFactors.begin(), kFactors.end(), [&](const KnownFactor& one) {
    return is_near(ratio, one.factor);
  });
  return known != kFactors.end()
             ? known->cause
             : "One factor is wrong for all: a scale, a mean's divisor, n - 1 for n.";
}

}  // namespace

std::string wrong_hint(const sandbox::Verdict& verdict) {
  const auto first =
      std::find_if(verdict.cases.begin(), verdict.cases.end(),
                   [](const sandbox::CaseRecord& record) { return !record.wrong.empty(); });
  if (first == verdict.cases.end())
    return "Compare with the reference in `fetch_spec`: masks at the edge, the dtype of sums, the "
           "axis, strides.";
  const WrongOutput& wrong = first->wrong.front();
  if (wrong.unstored.count > 0) return after_unstored(wrong);
  if (wrong.offset && wrong.memory && *wrong.offset == *wrong.memory)
    return "The sum began with " + initial_text(*wrong.memory) +
           ", the value of memory that nothing has stored: begin with zeros (torch.zeros).";
  if (wrong.nan.count > 0)
    return "NaN comes from inf - inf, 0 / 0, inf / inf (exp without subtracting the maximum), or "
           "from memory that nothing stored.";
  if (wrong.ratio) return after_factor(*wrong.ratio);
  if (!wrong.row_ratios.empty())
    return "Each row is scaled: its sum or maximum is wrong (`other` of masked loads, the mask).";
  if (wrong.constant) return "The kernel stores one value: check what it loads and computes.";
  if (wrong.offset) return "A constant is added: check the start of sums, eps and the bias.";
  if (repeats(wrong.all)) return "The pattern repeats: check the index arithmetic within a block.";
  if (has_pattern(wrong.all) && is_tail(wrong))
    return "Only the end is wrong: check the masks of loads, and `other`.";
  if (has_pattern(wrong.all)) return "Only this part is wrong: check which program computes it.";
  if (is_close(wrong))
    return "All errors are below 1 %: check the dtype of sums, eps, and n - 1 for n.";
  return "Errors have no pattern of place: check the formula against the reference in "
         "`fetch_spec`, the dtype of sums, `other` of masked loads.";
}

}  // namespace assay::tools
