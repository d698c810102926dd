// Instance is one search of geak with its own pool of ancestors, plan and failing version. An
// iteration writes or repairs one version, evaluates it, and reflects on it. The instances of one
// attempt share only the track's budgets and the answers for code that was already evaluated. Apart
// from that they are independent, as in GEAK, because independent searches find more diverse
// versions.
//
//   Instance instance(session, spec, parts);
//   while (*instance.iterate() == Instance::Next::iterate) {}
//   if (!instance.best_code().empty()) return session.submit(instance.best_code(), "");
//
// Not thread-safe.
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

/// A correct version in the pool.
struct Ancestor {
  std::string code;
  Evaluation evaluation;
  std::string reflection;
};

/// The pool of the fastest correct versions, from which the optimizer learns. The versions are
/// sorted from slow to fast, so that a prompt ends with the version to beat.
class Ancestors {
 public:
  explicit Ancestors(std::size_t most) : most_(most) {}

  /// Adds a version unless the pool already has a version with the same code. Drops the slowest
  /// version if the pool is full.
  void add(Ancestor ancestor);
  bool empty() const { return pool_.empty(); }
  const std::vector<Ancestor>& all() const { return pool_; }
  const Ancestor& fastest() const { return pool_.back(); }
  /// Returns the versions as text for a prompt.
  std::string text() const;

 private:
  const std::size_t most_;
  std::vector<Ancestor> pool_;
};

/// The settings that the instances of one attempt share. They also say which parts of geak are on.
struct GeakParts {
  std::string system;   // the system text, with the server's guides if they are on
  std::string example;  // the example for the generator; can be empty
  FirstStage first = FirstStage::compile;
  bool reflect = true;   // false: repairs see only the verdict
  bool optimize = true;  // false: the first correct version ends an instance
  // The number of failed repairs after which an approach is dropped. 0: it is never dropped.
  std::int64_t max_debug = 5;
  std::size_t ancestors = 5;  // the size of the pool
  std::optional<double> temperature = {};
};

class Instance {
 public:
  enum class Next { iterate, end_instance, end_attempt };

  Instance(AgentSession& session, const Spec& spec, const GeakParts& parts)
      : session_(session), spec_(spec), parts_(parts), ancestors_(parts.ancestors) {}

  Result<Next> iterate();

  /// Returns the best version so far, or "" if no reply contained code.
  const std::string& best_code() const { return best_code_; }
  const Evaluation& best() const { return best_; }

 private:
  /// A version that fails and is under repair.
  struct Failing {
    std::string code;
    Evaluation evaluation;
    std::int64_t repairs = 0;  // the number of failed repairs
  };

  Result<CompletionReply> reply_to(const char* file, PromptValues values);
  Result<std::string> answer(const char* file, PromptValues values);
  Result<std::string> code_from(const char* file, PromptValues values);
  Result<std::string> generated();
  Result<std::string> repaired();
  Status failed(const std::string& code, const Evaluation& evaluation);
  Status succeeded(const std::string& code, const Evaluation& evaluation);

  AgentSession& session_;
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
