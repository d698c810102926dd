// One instance of geak: a line of work of its own, with its own pool of ancestors, plan and failing
// version. A step is one version: written or mended, evaluated, and thought over. Instances of the
// same attempt share nothing but the track's budgets (and answers to code that was evaluated
// before): GEAK runs them independently, for the diversity.
//
//   Instance instance(bench, spec, parts);
//   while (*instance.iterate() == Instance::Next::iterate) {}
//   if (!instance.best_code().empty()) bench.submit(instance.best_code(), "");
//
// Not thread-safe.
//
// The pool of correct versions that geak's optimizer learns from: code, latency, efficiency and
// what was thought of it. The best few are kept and shown from slow to fast, so that the last one
// read is the one to beat. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference_agents/core/agent_session.h"
#include "reference_agents/core/attempt.h"
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

/// What the instances of one attempt have in common, and which parts of geak are there.
struct GeakParts {
  std::string system;   // with the knowledge that was injected
  std::string example;  // for the generator; empty: none
  FirstStage first = FirstStage::compile;
  bool reflect =
      true;  // false: versions are mended by the verdict alone, and nothing is thought over
  bool optimize =
      true;  // false: nobody plans a faster version, and the first correct one ends an instance
  std::int64_t max_debug = 5;  // failed repairs after which a line of attack is dropped; 0: never
  std::size_t ancestors = 5;   // 1: only the fastest version
  std::optional<double> temperature = {};
};

class Instance {
 public:
  enum class Next { iterate, end_instance, end_attempt };

  Instance(AgentSession& bench, const Spec& spec, const GeakParts& parts)
      : bench_(bench), spec_(spec), parts_(parts), ancestors_(parts.ancestors) {}

  Result<Next> iterate();

  const std::string& best_code() const { return best_code_; }  // empty: no reply held code
  const Evaluation& best() const { return best_; }

 private:
  /// A version that fails and is being mended.
  struct Failing {
    std::string code;
    Evaluation evaluation;
    std::int64_t repairs = 0;  // that were tried and failed
  };

  Result<std::string> answer(const char* file, PromptValues values);
  Result<std::string> code_from(const char* file, PromptValues values);
  Result<std::string> generated();
  Result<std::string> repaired();
  Status failed(const std::string& code, const Evaluation& evaluation);
  Status succeeded(const std::string& code, const Evaluation& evaluation);

  AgentSession& bench_;
  const Spec& spec_;
  const GeakParts& parts_;
  Ancestors ancestors_;
  std::optional<Failing> failing_;
  std::string plan_ = "Write a version that is right first of all.";
  std::string dropped_;
  std::string best_code_;
  Evaluation best_;
};

}  // namespace assay::agents
