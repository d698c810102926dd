#include "reference_agents/sim/scripted.h"

#include <string>

#include "reference_agents/core/reply_code.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

namespace {

const std::string kAnswers = std::string(ASSAY_SOURCE_DIR) + "/reference_agents/llm/scripted";

CompletionRequest asking_for(const std::string& name) {
  return {"system", {{"user", "Operator: " + name + "\n\nspec"}}, {}, 100};
}

}  // namespace

TEST_CASE(
    "every answer exists, is the same each time, and holds one block that defines the entry") {
  ScriptedClient client(kAnswers);
  for (const char* name :
       {"vector_add", "gelu_tanh", "softmax_last_dim", "layer_norm_fwd", "layer_norm_bwd",
        "matmul_fp16", "matmul_fp32_ieee", "quant_int8_rowwise", "embedding_bwd",
        "flash_attn_causal", "rope_neox", "jagged_softmax", "adamw_step", "cumsum_last_dim",
        "clamped_affine_scan", "gluon_blocked_add"}) {
    INFO(name);
    const Result<CompletionReply> reply = client.complete(asking_for(name));
    REQUIRE(reply);
    CHECK(reply->text == client.complete(asking_for(name))->text);
    CHECK(reply->input_tokens + reply->output_tokens == 0);  // no model, no tokens
    const std::vector<CodeBlock> blocks = fenced_blocks(reply->text);
    REQUIRE(blocks.size() == 1);
    CHECK(blocks[0].language == "python");
    CHECK(reply->text.find("```python") > 20);  // prose comes first
    CHECK(extract_code(reply->text, name).find("def " + std::string(name) + "(") !=
          std::string::npos);
  }
}

TEST_CASE("prompts that name no operator, an unknown one, or a path") {
  ScriptedClient client(kAnswers);
  CHECK(client.complete({"Operator: vector_add", {{"user", "no name here"}}, {}, 1}).error().code ==
        ErrorCode::not_found);
  CHECK(client.complete(asking_for("nobody")).error().message.find("'nobody'") !=
        std::string::npos);
  CHECK(client.complete(asking_for("../prices")).error().code == ErrorCode::not_found);
  CHECK(client.complete({"", {{"user", "say Operator: vector_add"}}, {}, 1}).error().code ==
        ErrorCode::not_found);  // not at a line's beginning
}
