// LLM clients that are not models. Both answer the operator that the prompt names in a line
// "Operator: NAME". Both are labelled "(no model)" everywhere and never ranked. Thread-safe.
//
//   Result<std::unique_ptr<SimClient>> sim =
//       SimClient::make("7?wrong=0.5&repair=1", root / "operators");
//   ScriptedClient scripted(root / "reference_agents/llm/scripted");
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference_agents/core/seeded_rng.h"
#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/number_options.h"
#include "reference_agents/sim/sim_mutations.h"

namespace assay::agents {

/// The options: probabilities (compile_error, wrong, slow, repair, bad_edit, dead_end, insight) and
/// the switch `fake`.
const std::vector<NumberOption>& sim_options();

/// Simulates a model that makes mistakes and learns, so that agents with feedback can be built and
/// demonstrated without a model. The answer is the operator's oracle, or a variant that does not
/// compile, is wrong or is slow (sim_mutations.h). A prompt with a failure ("Verdict: fail ...")
/// gets a repair with the probability `repair`. A prompt that asks for edits gets SEARCH/REPLACE
/// blocks. A prompt with "Answer without code" gets a sentence.
///
/// Three options add effects that are off by default, to show what the parts of an agent do about
/// them. Each effect is an assumption about models:
///
/// - `dead_end`: some approaches cannot be repaired (sim_landscape.h).
/// - `insight`: a reflection raises the probability of a repair.
/// - `fake`: for the device `fake`, versions have different speeds (sim_landscape.h). The model
/// does
///   not repeat a version that the prompt shows.
///
/// A reply depends only on the seed, the operator, the prompt, and the request's `attempt` and
/// `turn`. It does not depend on time, threads or earlier calls, so a bench that was killed and
/// resumed has the same results. The simulation knows the oracles, so it says nothing about any
/// model.
class SimClient final : public LlmClient {
 public:
  /// `name` is SEED or SEED?key=value&... invalid_argument lists the valid keys. `operators_dir`
  /// contains the files SPLIT/NAME/oracle.py.
  static Result<std::unique_ptr<SimClient>> make(const std::string& name,
                                                 const std::filesystem::path& operators_dir);

  /// not_found if the prompt names no operator, or one without an oracle.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return label_without_model("sim:" + name_); }
  bool is_model() const override { return false; }
  std::vector<std::string> known_operators() const override;

 private:
  SimClient(std::string name, std::uint64_t seed, NumberValues odds)
      : name_(std::move(name)), seed_(seed), odds_(std::move(odds)) {}

  std::string prose(const CompletionRequest& request, const std::string& operator_name) const;
  /// Returns the comments that begin a version for the device `fake`. `base` is the code that the
  /// prompt shows; `mends` is true if it fails.
  std::string fake_comments(const std::string& operator_name, Flaw flaw, bool mends,
                            const std::string& base, const std::string& prompt,
                            SeededRng& draws) const;

  const std::string name_;
  const std::uint64_t seed_;
  const NumberValues odds_;
  std::map<std::string, std::filesystem::path> oracles_;  // by operator
};

/// Answers prompts from files NAME.md, for the demo and the tests. The answer is always the same,
/// costs nothing and counts no tokens. The answers are a fixed mix: right, slow, wrong and not
/// compiling.
class ScriptedClient final : public LlmClient {
 public:
  /// `answers` is the folder of the answers.
  explicit ScriptedClient(std::filesystem::path answers) : answers_(std::move(answers)) {}
  /// not_found if the prompt names no operator, or one without an answer.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return label_without_model("scripted"); }
  bool is_model() const override { return false; }
  std::vector<std::string> known_operators() const override;

 private:
  const std::filesystem::path answers_;
};

/// Returns the operator that a prompt names: the name in its last line "Operator: NAME", or an
/// empty text. The name becomes a file name, so it ends before the first character that is not
/// [a-z0-9_].
std::string named_operator(const CompletionRequest& request);

}  // namespace assay::agents
