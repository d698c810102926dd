#include "reference_agents/registry/provider.h"

#include <algorithm>
#include <cstdlib>

#include "reference_agents/llm/http_clients.h"
#include "reference_agents/sim/clients.h"

namespace assay::agents {
namespace {

constexpr const char* kBaseUrlVariable = "ASSAY_LLM_BASE_URL";
constexpr const char* kScriptedName = "demo";

std::string valid_providers() {
  std::string list;
  for (const Provider& provider : providers()) list += (list.empty() ? "" : ", ") + provider.name;
  return list;
}

std::string read_environment(const ProviderOptions& options, const std::string& name) {
  if (options.environment) return options.environment(name).value_or("");
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

Result<Endpoint> make_endpoint(const Provider& provider, const std::string& model,
                               const ProviderOptions& options) {
  Endpoint endpoint;
  endpoint.provider = provider.name;
  endpoint.model = model;
  endpoint.policy = options.policy;
  endpoint.base_url =
      provider.base_url.empty() ? read_environment(options, kBaseUrlVariable) : provider.base_url;
  if (endpoint.base_url.empty()) {
    return fail(ErrorCode::invalid_argument,
                "provider '" + provider.name + "' needs the environment variable " +
                    kBaseUrlVariable + ", e.g. http://localhost:8000/v1");
  }
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  endpoint.api_key = read_environment(options, provider.key_variable);
  if (endpoint.api_key.empty() && provider.key_required) {
    return fail(ErrorCode::permission_denied,
                "provider '" + provider.name + "' needs an API key in the environment variable " +
                    provider.key_variable);
  }
  if (Status ok = check_endpoint(endpoint); !ok) return fail(ok.error());
  return endpoint;
}

}  // namespace

const std::vector<Provider>& providers() {
  static const std::vector<Provider> list = {
      {"openai", Protocol::openai, "https://api.openai.com/v1", "OPENAI_API_KEY", true},
      {"anthropic", Protocol::anthropic, "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", true},
      {"deepseek", Protocol::openai, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", true},
      {"together", Protocol::openai, "https://api.together.xyz/v1", "TOGETHER_API_KEY", true},
      {"google", Protocol::openai, "https://generativelanguage.googleapis.com/v1beta/openai",
       "GEMINI_API_KEY", true},
      {"openai-compatible", Protocol::openai, "", "ASSAY_LLM_API_KEY",
       false},  // local servers such as vLLM and llama.cpp
      {"scripted", Protocol::scripted, "", "", false},
      {"sim", Protocol::sim, "", "", false},
  };
  return list;
}

Result<ModelName> parse_model(const std::string& text) {
  const std::size_t colon = text.find(':');
  ModelName model{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const bool known =
      std::any_of(providers().begin(), providers().end(),
                  [&](const Provider& provider) { return provider.name == model.provider; });
  if (!known)
    return fail(ErrorCode::not_found, "unknown provider '" + model.provider +
                                          "'; valid: " + valid_providers() + " (PROVIDER:NAME)");
  const bool printable = std::all_of(model.name.begin(), model.name.end(),
                                     [](unsigned char byte) { return byte > 0x20 && byte < 0x7f; });
  if (model.name.empty() || !printable) {
    return fail(ErrorCode::invalid_argument, "'" + text +
                                                 "' names no model; valid: PROVIDER:NAME, e.g. "
                                                 "anthropic:claude-sonnet-4-5 or scripted:demo");
  }
  if (model.provider == "scripted" && model.name != kScriptedName) {
    return fail(ErrorCode::not_found, "provider 'scripted' has no '" + model.name +
                                          "'; valid: scripted:" + kScriptedName);
  }
  return model;
}

Result<std::unique_ptr<LlmClient>> make_llm_client(const std::string& model,
                                                   const ProviderOptions& options) {
  const Result<ModelName> name = parse_model(model);
  if (!name) return fail(name.error());
  const Provider& provider =
      *std::find_if(providers().begin(), providers().end(),
                    [&](const Provider& entry) { return entry.name == name->provider; });
  if (provider.protocol == Protocol::scripted)
    return std::make_unique<ScriptedClient>(options.data_dir / "llm/scripted");
  if (provider.protocol == Protocol::sim) {
    auto sim = SimClient::make(name->name, options.operators_dir.empty()
                                               ? options.data_dir.parent_path() / "operators"
                                               : options.operators_dir);
    if (!sim) return fail(sim.error());
    return std::unique_ptr<LlmClient>(std::move(*sim));
  }
  Result<Endpoint> endpoint = make_endpoint(provider, name->name, options);
  if (!endpoint) return fail(endpoint.error());
  if (provider.protocol == Protocol::anthropic)
    return std::make_unique<AnthropicClient>(std::move(*endpoint));
  return std::make_unique<OpenAiClient>(std::move(*endpoint));
}

void forget_keys() {
  for (const Provider& provider : providers()) {
    if (!provider.key_variable.empty()) ::unsetenv(provider.key_variable.c_str());
  }
}

}  // namespace assay::agents
