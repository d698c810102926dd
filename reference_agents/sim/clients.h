// Defines two LLM clients that are not models: SimClient and ScriptedClient. Each answers for the
// operator that the prompt names in a line "Operator: NAME". Their results are labelled "(no
// model)" everywhere and are never ranked. Thread-safe.
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

/// Returns the options of SimClient: the probabilities compile_error, wrong, slow, repair,
/// bad_edit, dead_end and insight, and the switch `fake`.
const std::vector<NumberOption>& sim_options();

/// Simulates a model that makes mistakes and learns, so that agents with feedback can be built and
/// demonstrated without a model. The answer is the operator's oracle, or a variant that does not
/// compile, is wrong or is slow (sim_mutations.h). A prompt with a failure ("Verdict: fail ...")
/// gets a repair with the probability `repair`. A prompt that asks for edits gets SEARCH/REPLACE
/// blocks. A prompt with "Answer without code" gets a sentence.
///
/// Three options add effects that are off by default. They show how the parts of an agent handle
/// such effects. Each effect is an assumption about models:
///
/// - `dead_end`: some approaches cannot be repaired (sim_landscape.h).
/// - `insight`: a reflection raises the probability of a repair.
/// - `fake`: on the device `fake`, versions have different speeds (sim_landscape.h).
///
/// If `fake` is on, the simulated model does not repeat a version that the prompt shows.
///
/// A reply depends only on the seed, the operator, the prompt, and the request's `attempt` and
/// `turn`. It does not depend on time, threads or earlier calls, so a bench that was killed and
/// resumed has the same results. The simulation uses the oracles, so its results say nothing about
/// any model.
class SimClient final : public LlmClient {
 public:
  /// Makes a client. `name` is SEED or SEED?key=value&... `operators_dir` contains the files
  /// SPLIT/NAME/oracle.py. Errors: invalid_argument if a key is invalid, and the message lists the
  /// valid keys.
  static Result<std::unique_ptr<SimClient>> make(const std::string& name,
                                                 const std::filesystem::path& operators_dir);

  /// Answers a prompt. Errors: not_found if the prompt names no operator, or an operator without an
  /// oracle.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return label_without_model("sim:" + name_); }
  bool is_model() const override { return false; }
  std::vector<std::string> known_operators() const override;

 private:
  SimClient(std::string name, std::uint64_t seed, NumberValues odds)
      : name_(std::move(name)), seed_(seed), odds_(std::move(odds)) {}

  std::string prose(const CompletionRequest& request, const std::string& operator_name) const;
  /// Returns the comments at the beginning of a version for the device `fake`. `base` is the code
  /// that the prompt shows. `mends` is true if this code fails and the version repairs it.
  std::string fake_comments(const std::string& operator_name, Flaw flaw, bool mends,
                            const std::string& base, const std::string& prompt,
                            SeededRng& draws) const;

  const std::string name_;
  const std::uint64_t seed_;
  const NumberValues odds_;
  std::map<std::string, std::filesystem::path> oracles_;  // the oracles' files, by operator
};

/// Answers prompts with the contents of files NAME.md, for the demo and the tests. The answer for
/// an operator is always the same, costs nothing and counts no tokens. The answers are a fixed mix
/// of right, slow, wrong and broken code.
class ScriptedClient final : public LlmClient {
 public:
  /// `answers` is the folder with the files NAME.md, one for each operator NAME.
  explicit ScriptedClient(std::filesystem::path answers) : answers_(std::move(answers)) {}
  /// Answers a prompt. Errors: not_found if the prompt names no operator, or an operator without an
  /// answer.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return label_without_model("scripted"); }
  bool is_model() const override { return false; }
  std::vector<std::string> known_operators() const override;

 private:
  const std::filesystem::path answers_;
};

/// Returns the operator that a prompt names: the name in the prompt's last line "Operator: NAME",
/// or "" if there is no such line. The name becomes a file name, so it ends before the first
/// character that is not [a-z0-9_].
std::string named_operator(const CompletionRequest& request);

}  // namespace assay::agents
