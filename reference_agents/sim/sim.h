// The simulated model: no model, but a stand-in that errs and learns, so that agents with feedback
// can be built and shown to work where there is no model. It answers the operator that the prompt
// names in a line "Operator: NAME" with that operator's oracle, or with a variant of it
// (sim_mutations.h) that does not compile, is wrong or is slow. A prompt that tells of a failure
// ("Verdict: fail ...", "Verdict: error ...") is answered with a repair as often as `repair` says;
// one that asks for edits gets SEARCH/REPLACE blocks; one that says "Answer without code" gets a
// sentence.
//
// Three more effects are there for those who ask, to see what an agent's parts do about them; each
// is an assumption, put in by its option: `dead_end`, lines of attack that no repair makes right
// (sim_attack.h); `insight`, what a reflection adds to the odds of a repair; and `fake`, for the
// device of that name, versions whose speeds differ (sim_landscape.h), of which it tries none twice
// that the prompt shows.
//
//   Result<std::unique_ptr<SimClient>> client = SimClient::make("7?wrong=0.5&repair=1", root /
//   "operators");
//
// A reply depends on the seed, the operator, the request's `attempt` and `turn`, and the prompt:
// not on time, threads or earlier calls. A bench that was killed and resumed therefore ends like
// one that was not. It knows the oracles, so it says nothing about any model: it is labelled "(no
// model)" wherever it shows and never ranked. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reference_agents/core/seeded_rng.h"
#include "reference_agents/llm/llm_client.h"
#include "reference_agents/llm/number_options.h"
#include "reference_agents/sim/sim_mutations.h"

namespace assay::agents {

/// compile_error, wrong, slow, repair, bad_edit, dead_end, insight: probabilities; fake: a switch.
const std::vector<NumberOption>& sim_options();

class SimClient final : public LlmClient {
 public:
  /// `name`: SEED or SEED?key=value&...; invalid_argument names the valid keys. `operators_dir`
  /// holds SPLIT/NAME/oracle.py.
  static Result<std::unique_ptr<SimClient>> make(const std::string& name,
                                                 const std::filesystem::path& operators_dir);

  /// not_found when the prompt names no operator or there is no oracle of it.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return "sim:" + name_ + " " + std::string(kNoModelMark); }
  bool is_model() const override { return false; }
  std::vector<std::string> known_operators() const override;

 private:
  SimClient(std::string name, std::uint64_t seed, NumberValues odds)
      : name_(std::move(name)), seed_(seed), odds_(std::move(odds)) {}

  std::string prose(const CompletionRequest& request, const std::string& operator_name) const;
  /// `mends`: the prompt shows code that fails, `base`.
  std::string fake_comments(const std::string& operator_name, Flaw flaw, bool mends,
                            const std::string& base, const std::string& prompt,
                            SeededRng& draws) const;

  const std::string name_;
  const std::uint64_t seed_;
  const NumberValues odds_;
  std::map<std::string, std::filesystem::path> oracles_;  // by operator
};

}  // namespace assay::agents
