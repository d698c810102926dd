#include "reference_agents/geak/ancestors.h"

#include <algorithm>
#include <utility>

namespace assay::agents {

void Ancestors::add(Ancestor ancestor) {
  const auto same = [&](const Ancestor& other) { return other.code == ancestor.code; };
  if (std::any_of(pool_.begin(), pool_.end(), same)) return;
  const auto perf = [](const Ancestor& entry) { return entry.evaluation.perf.value_or(0); };
  const auto place =
      std::upper_bound(pool_.begin(), pool_.end(), ancestor,
                       [&](const Ancestor& a, const Ancestor& b) { return perf(a) < perf(b); });
  pool_.insert(place, std::move(ancestor));
  if (pool_.size() > most_) pool_.erase(pool_.begin());
}

std::string Ancestors::text() const {
  std::string text;
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    text +=
        "Version " + std::to_string(i + 1) + " of " + std::to_string(pool_.size()) + " (" +
        metrics_text(pool_[i].evaluation) + "):\n\n```python\n" + pool_[i].code + "```\n\n" +
        (pool_[i].reflection.empty() ? ""
                                     : "What was thought of it: " + pool_[i].reflection + "\n\n");
  }
  return text;
}

}  // namespace assay::agents
