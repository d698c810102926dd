// The scripted provider: no model, but answers read from files, for the demo and the tests. It
// answers the operator that the prompt names in a line "Operator: NAME" with scripted/NAME.md, the
// same text every time, at no cost and with no tokens. A fixed mix: right, slow, wrong and not
// compiling. It is labelled "scripted (no model)" wherever it shows and never ranked. Thread-safe.
//
// The operator that a prompt is about, for the providers that are no models. Pure function, safe
// from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

inline constexpr const char* kScriptedLabel = "scripted (no model)";

class ScriptedClient final : public LlmClient {
 public:
  /// `answers` is the folder with the .md files.
  explicit ScriptedClient(std::filesystem::path answers) : answers_(std::move(answers)) {}
  /// not_found when the prompt names no operator or there is no answer for it.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return kScriptedLabel; }
  bool is_model() const override { return false; }
  std::vector<std::string> known_operators() const override;

 private:
  const std::filesystem::path answers_;
};

/// The name in the last line that begins with "Operator: "; it becomes a file name, so only
/// [a-z0-9_] counts. Empty: none.
std::string named_operator(const CompletionRequest& request);

}  // namespace assay::agents
