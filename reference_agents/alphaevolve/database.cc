#include "reference_agents/alphaevolve/database.h"

#include <algorithm>
#include <cmath>

namespace assay::agents {
namespace {

constexpr double kBestShare = 2.0 / 3;  // the share of parents that are the island's best program

bool holds(const std::vector<Program>& programs, const Program& wanted) {
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program& program) { return program.code == wanted.code; });
}

}  // namespace

const Program& best_of(const std::vector<Program>& programs) {
  const Program* best = &programs.front();
  for (const Program& program : programs) {
    if (!is_better(best->evaluation, program.evaluation)) best = &program;
  }
  return *best;
}

void Database::add(std::size_t island, const Program& program) {
  islands_[island].programs.push_back(program);
  islands_[island].archive.add(program);
}

void Database::migrate() {
  // This list has one entry for each island: the island's best program, which is copied to the next
  // island, or nothing if the island is empty. All programs are collected before the first copy is
  // made, so that no program is copied twice in one round.
  std::vector<std::vector<Program>> leaving(islands_.size());
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    if (!empty(i)) leaving[i].push_back(best_of(islands_[i].programs));
  }
  for (std::size_t i = 0; i < islands_.size(); ++i) {
    const std::size_t next = (i + 1) % islands_.size();
    for (const Program& program : leaving[i]) {
      if (!holds(islands_[next].programs, program)) add(next, program);
    }
  }
}

bool Database::empty() const {
  return std::all_of(islands_.begin(), islands_.end(),
                     [](const Island& island) { return island.programs.empty(); });
}

std::vector<Program> Database::possible_parents(const Island& island) const {
  const Level furthest = best_of(island.programs).evaluation.level;
  std::vector<Program> reached, fast;
  for (const Program& elite : island.archive.elites()) {
    if (elite.evaluation.level != furthest) continue;
    reached.push_back(elite);
    if (elite.evaluation.perf.value_or(0) >= rules_.min_perf) fast.push_back(elite);
  }
  return fast.empty() ? reached : fast;
}

Program Database::parent(std::size_t island) {
  const Program& best = best_of(islands_[island].programs);
  if (!rules_.archive || draws_.uniform() < kBestShare) return best;
  const std::vector<Program> possible = possible_parents(islands_[island]);
  return possible[draws_.below(possible.size())];
}

std::vector<Program> Database::others(std::size_t island, const Program& parent, std::size_t most) {
  std::vector<Program> shown;
  const auto show = [&](const Program& program) {
    if (program.code != parent.code && !holds(shown, program)) shown.push_back(program);
  };
  if (!rules_.archive) {
    const std::vector<Program>& programs = islands_[island].programs;
    for (auto program = programs.rbegin(); program != programs.rend() && shown.size() < most;
         ++program)
      show(*program);
    return shown;
  }
  std::vector<Program> elites = islands_[island].archive.elites();
  while (!elites.empty() && shown.size() < most) {
    const bool is_top = shown.size() < (most + 1) / 2;
    const auto place = is_top ? &best_of(elites) - elites.data()
                              : static_cast<std::ptrdiff_t>(draws_.below(elites.size()));
    show(elites[static_cast<std::size_t>(place)]);
    elites.erase(elites.begin() + place);
  }
  return shown;
}

Program Database::best() const {
  std::vector<Program> bests;
  for (const Island& island : islands_) {
    if (!island.programs.empty()) bests.push_back(best_of(island.programs));
  }
  return best_of(bests);
}

namespace {

constexpr double kLengthStepsPerDoubling = 2;
/// Perf is clamped to this range before its logarithm is taken, because 0 has no logarithm.
constexpr double kLeastPerf = 1.0 / 1'024, kMostPerf = 1'024;
// The result of a correct program is kUntimed if the program has no time. Otherwise it is kTimed
// plus the logarithm of its Perf, which is always greater than kUntimed.
constexpr int kUntimed = 2, kTimed = 20;

int result_of(const Evaluation& evaluation) {
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
          result_of(program.evaluation)};
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
