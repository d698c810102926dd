// Lists the LLM providers and makes their clients. A model is named PROVIDER:NAME. To add an
// OpenAI-compatible endpoint, add a line to providers().
//
//   ProviderOptions options{.data_dir = root / "reference_agents"};
//   Result<std::unique_ptr<LlmClient>> client = make_llm_client("deepseek:deepseek-chat", options);
//
// Keys come only from the environment. They are never stored or logged. Thread-safe while the
// environment does not change.
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
  std::string base_url;  // empty: the value of ASSAY_LLM_BASE_URL is used
  // The environment variable that contains the key. Empty: the provider has no key.
  std::string key_variable;
  bool key_required = true;
};

const std::vector<Provider>& providers();

struct ProviderOptions {
  std::filesystem::path data_dir;  // the folder reference_agents/ of the source tree
  // The operators that the simulated model can answer. Empty: Assay's own.
  std::filesystem::path operators_dir = {};
  RetryPolicy policy;
  /// Reads one environment variable. Tests replace this function.
  std::function<std::optional<std::string>(const std::string&)> environment;
};

struct ModelName {
  std::string provider, name;
};

/// Splits "openai:gpt-5" into {"openai", "gpt-5"}. Errors: invalid_argument if the text is not
/// PROVIDER:NAME; not_found if the provider is unknown, and the message lists the valid providers.
Result<ModelName> parse_model(const std::string& text);

/// Makes the client of a model. Errors: those of parse_model(); permission_denied if the key is
/// missing, and the message names the environment variable of the key.
Result<std::unique_ptr<LlmClient>> make_llm_client(const std::string& model,
                                                   const ProviderOptions& options);

/// Removes the providers' keys from this process's environment, so that child processes do not
/// inherit the keys. Call this function after the clients are made and before threads start.
void forget_keys();

}  // namespace assay::agents
