// The pool of correct versions that geak's optimizer learns from: code, latency, efficiency and
// what was thought of it. The best few are kept and shown from slow to fast, so that the last one
// read is the one to beat. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reference_agents/core/evaluation.h"

namespace assay::agents {

struct Ancestor {
  std::string code;
  Evaluation evaluation;
  std::string reflection;
};

class Ancestors {
 public:
  explicit Ancestors(std::size_t most) : most_(most) {}

  /// Drops the slowest when there are too many. Code that is in the pool already is not added
  /// again.
  void add(Ancestor ancestor);
  bool empty() const { return pool_.empty(); }
  /// Slow to fast.
  const std::vector<Ancestor>& all() const { return pool_; }
  const Ancestor& fastest() const { return pool_.back(); }
  /// For a prompt, slow to fast.
  std::string text() const;

 private:
  const std::size_t most_;
  std::vector<Ancestor> pool_;
};

}  // namespace assay::agents
