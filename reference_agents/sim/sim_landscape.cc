#include "reference_agents/sim/sim_landscape.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace assay::agents {
namespace {

constexpr std::string_view kMark = "# ideas: ";
constexpr std::string_view kPlanMark = "the next version has ideas ";
constexpr double kPlainPerf = 0.5;    // the Perf of a version without ideas
constexpr double kFirstShare = 0.25;  // the share of all ideas that a first version has
constexpr double kGoodShare = 0.5;    // the share of ideas that make a version faster
/// The bounds of the factor by which one idea multiplies a version's speed. The factor of a bad
/// idea is between kLeast and 1; the factor of a good idea is between 1 and kMost.
constexpr double kLeast = 0.65, kMost = 1.5;
// The bounds of a further factor, by which the speed is multiplied if a version has two
// neighbouring ideas.
constexpr double kPairLeast = 0.75, kPairMost = 1.3;

double between(double low, double high, SeededRng& draws) {
  return low + (high - low) * draws.uniform();
}

std::optional<Ideas> number_at(std::string_view text, std::size_t at) {
  Ideas number = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

bool has(Ideas ideas, std::size_t idea) { return (ideas >> idea & 1U) != 0; }

}  // namespace

Landscape::Landscape(std::uint64_t seed, const std::string& operator_name) {
  SeededRng draws(seed, operator_name + "\nlandscape");
  for (double& factor : alone_)
    factor = draws.uniform() < kGoodShare ? between(1, kMost, draws) : between(kLeast, 1, draws);
  for (double& factor : with_next_) factor = between(kPairLeast, kPairMost, draws);
}

double Landscape::perf(Ideas ideas) const {
  double perf = kPlainPerf;
  for (std::size_t i = 0; i < kIdeas; ++i) {
    if (!has(ideas, i)) continue;
    perf *= alone_[i];
    if (has(ideas, (i + 1) % kIdeas)) perf *= with_next_[i];
  }
  return perf;
}

std::string ideas_comment(Ideas ideas) { return std::string(kMark) + std::to_string(ideas) + "\n"; }

std::vector<Ideas> ideas_in(std::string_view text) {
  std::vector<Ideas> found;
  for (std::size_t at = text.find(kMark); at != std::string_view::npos;
       at = text.find(kMark, at + 1)) {
    if (const auto ideas = number_at(text, at + kMark.size())) found.push_back(*ideas);
  }
  return found;
}

std::string plan_sentence(Ideas ideas) {
  return "Try what no version has: " + std::string(kPlanMark) + std::to_string(ideas) + ".\n";
}

std::optional<Ideas> planned_ideas(std::string_view text) {
  const std::size_t at = text.rfind(kPlanMark);
  return at == std::string_view::npos ? std::nullopt : number_at(text, at + kPlanMark.size());
}

Ideas first_ideas(SeededRng& draws) {
  Ideas ideas = 0;
  for (std::size_t i = 0; i < kIdeas; ++i)
    ideas |= draws.uniform() < kFirstShare ? Ideas{1} << i : Ideas{0};
  return ideas;
}

Ideas next_ideas(Ideas base, const std::vector<Ideas>& tried, SeededRng& draws) {
  std::vector<Ideas> all, fresh;
  for (std::size_t i = 0; i < kIdeas; ++i) {
    all.push_back(base ^ Ideas{1} << i);
    if (std::find(tried.begin(), tried.end(), all.back()) == tried.end())
      fresh.push_back(all.back());
  }
  const std::vector<Ideas>& possible = fresh.empty() ? all : fresh;
  return possible[draws.below(possible.size())];
}

}  // namespace assay::agents
