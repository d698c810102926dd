// ScriptedClient answers prompts from files, for the demo and the tests. It answers the operator
// that the prompt names in a line "Operator: NAME" with the file NAME.md. The answer is always the
// same, costs nothing and counts no tokens. The answers are a fixed mix: right, slow, wrong and not
// compiling. The client is labelled "scripted (no model)" everywhere and never ranked. Thread-safe.
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
  /// `answers` is the folder of the answers.
  explicit ScriptedClient(std::filesystem::path answers) : answers_(std::move(answers)) {}
  /// not_found if the prompt names no operator, or one without an answer.
  Result<CompletionReply> complete(const CompletionRequest& request) override;
  std::string label() const override { return kScriptedLabel; }
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
