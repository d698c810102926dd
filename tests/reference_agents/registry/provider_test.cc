#include "reference_agents/registry/provider.h"

#include <map>

#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

namespace {

ProviderOptions options_with(std::map<std::string, std::string> environment) {
  ProviderOptions options;
  options.data_dir = std::string(ASSAY_SOURCE_DIR) + "/reference_agents";
  options.environment = [environment = std::move(environment)](
                            const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  return options;
}

}  // namespace

TEST_CASE("PROVIDER:NAME") {
  const Result<ModelName> model = parse_model("together:meta-llama/Llama-3:70b");
  REQUIRE(model);
  CHECK(model->provider == "together");
  CHECK(model->name == "meta-llama/Llama-3:70b");  // only the first colon separates
  for (const char* bad : {"openai", "openai:", "openai:a b", "openai:a\nb"}) {
    CHECK(parse_model(bad).error().code == ErrorCode::invalid_argument);
  }
  for (const char* unknown : {"", ":x", "opnai:x", "OpenAI:x"}) {
    const Result<ModelName> refused = parse_model(unknown);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::not_found);
    CHECK(refused.error().message.find(
              "openai, anthropic, deepseek, together, google, openai-compatible, scripted") !=
          std::string::npos);
  }
  CHECK(parse_model("scripted:other").error().message.find("scripted:demo") != std::string::npos);
}

TEST_CASE("a missing key names its variable") {
  const std::map<std::string, std::string> variables = {{"openai", "OPENAI_API_KEY"},
                                                        {"anthropic", "ANTHROPIC_API_KEY"},
                                                        {"deepseek", "DEEPSEEK_API_KEY"},
                                                        {"together", "TOGETHER_API_KEY"},
                                                        {"google", "GEMINI_API_KEY"}};
  for (const auto& [provider, variable] : variables) {
    const auto refused = make_llm_client(provider + ":m", options_with({}));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::permission_denied);
    CHECK(refused.error().message.find(variable) != std::string::npos);
    const auto client = make_llm_client(provider + ":m", options_with({{variable, "k"}}));
    REQUIRE(client);
    CHECK((*client)->label() == provider + ":m");
    CHECK((*client)->is_model());
  }
}

TEST_CASE("openai-compatible needs a base URL and no key") {
  const auto refused = make_llm_client("openai-compatible:qwen", options_with({}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("ASSAY_LLM_BASE_URL") != std::string::npos);
  CHECK(make_llm_client("openai-compatible:qwen",
                        options_with({{"ASSAY_LLM_BASE_URL", "http://gpu-box:8000/v1/"}})));
  CHECK_FALSE(make_llm_client("openai-compatible:qwen",
                              options_with({{"ASSAY_LLM_BASE_URL", "gpu-box:8000"}})));
}

TEST_CASE("scripted is no model") {
  const auto client = make_llm_client("scripted:demo", options_with({}));
  REQUIRE(client);
  CHECK((*client)->label() == "scripted (no model)");
  CHECK_FALSE((*client)->is_model());
}

TEST_CASE("sim is no model, and names what is wrong with its options") {
  const auto client = make_llm_client("sim:7?wrong=0.5", options_with({}));
  REQUIRE(client);
  CHECK((*client)->label() == "sim:7?wrong=0.5 (no model)");
  CHECK_FALSE((*client)->is_model());
  const auto refused = make_llm_client("sim:7?wrung=0.5", options_with({}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message.find("bad_edit=0.1") != std::string::npos);
}
