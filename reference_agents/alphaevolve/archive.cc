#include "reference_agents/alphaevolve/archive.h"

#include <algorithm>
#include <cmath>

namespace assay::agents {
namespace {

constexpr double kLengthStepsPerDoubling = 2;
constexpr double kLeastPerf = 1.0 / 1'024,
                 kMostPerf =
                     1'024;  // beyond these everything is one cell: a ratio of 0 has no logarithm
constexpr int kUntimed = 2, kTimed = 20;  // worths; every timed one lies above the untimed one

int worth_of(const Evaluation& evaluation) {
  switch (evaluation.level) {
    case Level::broken: return 0;
    case Level::compiles: return 1;
    case Level::correct: break;
  }
  if (!evaluation.perf) return kUntimed;
  return kTimed + static_cast<int>(
                      std::floor(std::log2(std::clamp(*evaluation.perf, kLeastPerf, kMostPerf))));
}

}  // namespace

Cell cell_of(const Program& program) {
  const double length = std::log2(static_cast<double>(program.code.size()) + 1);
  return {static_cast<int>(std::floor(kLengthStepsPerDoubling * length)),
          worth_of(program.evaluation)};
}

void Archive::add(const Program& program) {
  const auto [place, is_new] = cells_.try_emplace(cell_of(program), program);
  if (!is_new && !is_better(place->second.evaluation, program.evaluation)) place->second = program;
}

std::vector<Program> Archive::elites() const {
  std::vector<Program> elites;
  for (const auto& [cell, program] : cells_) elites.push_back(program);
  return elites;
}

}  // namespace assay::agents
