// PROVIDER:NAME -> LlmClient. providers() is THE list; to add an OpenAI-compatible endpoint, add a
// line there.
//
//   ProviderOptions options{.data_dir = root / "reference_agents"};
//   Result<std::unique_ptr<LlmClient>> client = make_llm_client("deepseek:deepseek-chat", options);
//
// Keys come from the environment only, are never stored and never logged. Thread-safe as long as
// nobody changes the environment.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference_agents/llm/endpoint.h"
#include "reference_agents/llm/llm_client.h"

namespace assay::agents {

enum class Protocol { openai, anthropic, scripted, sim };

struct Provider {
  std::string name;
  Protocol protocol = Protocol::openai;
  std::string base_url;      // empty: from ASSAY_LLM_BASE_URL
  std::string key_variable;  // environment variable of the key; empty: none
  bool key_required = true;
};

const std::vector<Provider>& providers();

struct ProviderOptions {
  std::filesystem::path data_dir;  // reference_agents/ of the source tree
  RetryPolicy policy;
  /// Reads one environment variable; tests replace it.
  std::function<std::optional<std::string>(const std::string&)> environment;
};

struct ModelName {
  std::string provider, name;
};

/// "openai:gpt-5" -> {"openai", "gpt-5"}. invalid_argument when it is not PROVIDER:NAME; not_found,
/// naming the valid ones, when the provider is unknown.
Result<ModelName> parse_model(const std::string& text);

/// Also permission_denied, naming the environment variable, when the key is missing (exit status
/// kNoCredentials).
Result<std::unique_ptr<LlmClient>> make_llm_client(const std::string& model,
                                                   const ProviderOptions& options);

/// Takes the providers' keys out of this process's environment, so that a program which it starts
/// does not inherit them. For the time after the clients are made and before there are threads.
void forget_keys();

}  // namespace assay::agents
