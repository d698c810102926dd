#include "reference_agents/sim/clients.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/text_edits.h"
#include "reference_agents/core/reply_code.h"
#include "reference_agents/sim/sim_landscape.h"
#include "reference_agents/sim/sim_mutations.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

namespace {

const std::string kOperators = std::string(ASSAY_SOURCE_DIR) + "/operators";

std::unique_ptr<SimClient> sim(const std::string& name) {
  auto client = SimClient::make(name, kOperators);
  REQUIRE(client);
  return std::move(*client);
}

CompletionRequest asking(const std::string& name, std::int64_t turn,
                         const std::string& rest = "spec") {
  return {"system", {{"user", "Operator: " + name + "\n\n" + rest}}, {}, 100, "sample 1", turn};
}

std::string code_of(SimClient& client, const CompletionRequest& request) {
  const Result<CompletionReply> reply = client.complete(request);
  REQUIRE(reply);
  return extract_code(reply->text, "");
}

}  // namespace

TEST_CASE("seed, operator, sample and turn determine the answer, independent of earlier requests") {
  const auto first = sim("7");
  const auto second = sim("7");
  bool sample_matters = false;
  bool turn_matters = false;
  for (std::int64_t turn = 0; turn < 20; ++turn) {
    const std::string code = code_of(*first, asking("softmax_last_dim", turn));
    (void)second->complete(asking("vector_add", turn));
    CHECK(code == code_of(*second, asking("softmax_last_dim", turn)));
    CompletionRequest other = asking("softmax_last_dim", turn);
    other.attempt = "sample 2";
    sample_matters = sample_matters || code_of(*first, other) != code;
    turn_matters = turn_matters || code_of(*first, asking("softmax_last_dim", turn + 1)) != code;
  }
  CHECK(sample_matters);
  CHECK(turn_matters);
}

TEST_CASE("an operator without an oracle is answered with the class of its problem") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "assay-sim-problem/standard/level1_1_clip";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "problem.py") << "class Model:\n    pass\n";
  auto client = SimClient::make("1?compile_error=0&wrong=0&slow=0", folder.parent_path());
  REQUIRE(client);
  CHECK((*client)->known_operators() == std::vector<std::string>{"level1_1_clip"});
  CHECK(code_of(**client, asking("level1_1_clip", 0)).find("class ModelNew(Model):") !=
        std::string::npos);
  std::filesystem::remove_all(folder.parent_path().parent_path());
}

TEST_CASE("probabilities of 0 and 1: never a flaw, always one, repaired or not") {
  const std::string oracle =
      code_of(*sim("1?compile_error=0&wrong=0&slow=0"), asking("gelu_tanh", 0));
  const auto wrong = sim("1?compile_error=0&wrong=1&slow=0&repair=1");
  const auto stubborn = sim("1?compile_error=1&wrong=0&slow=0&repair=0");
  for (std::int64_t turn = 0; turn < 10; ++turn) {
    CHECK(code_of(*wrong, asking("gelu_tanh", turn)) != oracle);
    CHECK(code_of(*wrong, asking("gelu_tanh", turn, "Verdict: fail (wrong_result): ...")) ==
          oracle);
    CHECK(code_of(*stubborn, asking("gelu_tanh", turn, "Verdict: error (syntax_error): ...")) !=
          oracle);
  }
}

TEST_CASE("a prompt for edits gets edits of the code it shows, and one for prose gets prose") {
  const auto wrong = sim("3?compile_error=0&wrong=1&slow=0&repair=1&bad_edit=0");
  const std::string flawed = code_of(*wrong, asking("gelu_tanh", 0));
  const std::string ask_edits =
      "```python\n" + flawed +
      "```\n\nVerdict: fail\n\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
  const Result<CompletionReply> reply = wrong->complete(asking("gelu_tanh", 1, ask_edits));
  REQUIRE(reply);
  const auto edits = parse_edits(reply->text);
  REQUIRE(edits);
  const auto mended = apply_edits(flawed, *edits);
  REQUIRE(mended);
  CHECK(*mended == code_of(*wrong, asking("gelu_tanh", 1, "Verdict: fail")));
  const auto clumsy = sim("3?bad_edit=1");
  CHECK_FALSE(
      apply_edits(flawed, *parse_edits(clumsy->complete(asking("gelu_tanh", 1, ask_edits))->text)));
  CHECK(
      fenced_blocks(wrong->complete(asking("gelu_tanh", 1, "Answer without code."))->text).empty());
}

TEST_CASE("errors in the name, and operators without an oracle") {
  for (const char* bad : {"", "x", "7?wrong", "7?wrong=2", "7?wrong=nan", "7?wrong=0.1&wrong=0.1",
                          "7?compile_error=0.6&wrong=0.6", "-1"}) {
    INFO(bad);
    CHECK(SimClient::make(bad, kOperators).error().code == ErrorCode::invalid_argument);
  }
  CHECK(sim("7")->complete(asking("nobody", 0)).error().code == ErrorCode::not_found);
  CHECK(sim("7")->complete({"", {{"user", "no name"}}, {}, 1}).error().code ==
        ErrorCode::not_found);
  const std::vector<std::string> known = sim("7")->known_operators();
  CHECK(std::find(known.begin(), known.end(), "vector_add") != known.end());
}

TEST_CASE("every flaw of the quick operators changes the code") {
  for (const char* name : {"vector_add", "relu", "gelu_tanh", "softmax_last_dim"}) {
    const std::string oracle = code_of(*sim("1?compile_error=0&wrong=0&slow=0"), asking(name, 0));
    for (const Flaw flaw : {Flaw::does_not_compile, Flaw::wrong, Flaw::slow}) {
      for (std::uint64_t draw = 0; draw < 8; ++draw) CHECK(mutate(oracle, flaw, draw) != oracle);
    }
    CHECK(mutate(oracle, Flaw::none, 3) == oracle);
  }
}

TEST_CASE("a repair keeps its approach, and a dead end stays wrong") {
  const auto mortal = sim("5?compile_error=0&wrong=1&slow=0&repair=1&dead_end=0.5");
  int dead = 0;
  for (std::int64_t turn = 0; turn < 40; ++turn) {
    const std::string first = code_of(*mortal, asking("gelu_tanh", turn));
    REQUIRE(attack_of(first));
    bool repaired_once = false;
    bool failed_once = false;
    for (std::int64_t later = 100; later < 105; ++later) {
      const std::string mended =
          code_of(*mortal, asking("gelu_tanh", later,
                                  "```python\n" + first + "```\n\nVerdict: fail (wrong_result)"));
      CHECK(attack_of(mended) == attack_of(first));
      const std::string oracle =
          code_of(*sim("1?compile_error=0&wrong=0&slow=0"), asking("gelu_tanh", 0));
      (mended == attack_comment(*attack_of(first)) + oracle ? repaired_once : failed_once) = true;
    }
    CHECK(repaired_once != failed_once);
    dead += failed_once ? 1 : 0;
  }
  CHECK(dead > 8);
  CHECK(dead < 32);
}

TEST_CASE("insight helps only after a reflection") {
  const auto slow_learner = sim("5?compile_error=0&wrong=1&slow=0&repair=0&insight=1");
  const std::string flawed = code_of(*slow_learner, asking("gelu_tanh", 0));
  const std::string failure = "```python\n" + flawed + "```\n\nVerdict: fail\n\n";
  const std::string oracle =
      code_of(*sim("1?compile_error=0&wrong=0&slow=0"), asking("gelu_tanh", 0));
  CHECK(code_of(*slow_learner, asking("gelu_tanh", 1, failure)) != oracle);
  CHECK(code_of(*slow_learner,
                asking("gelu_tanh", 1, failure + "What a colleague found: the mask")) == oracle);
}

TEST_CASE("for the device fake, comments give the verdict and the speed, and plans are followed") {
  const auto fake = sim("5?compile_error=0&wrong=0&slow=0&repair=1&fake=1");
  const std::string code = code_of(*fake, asking("gelu_tanh", 0));
  REQUIRE(ideas_in(code).size() == 1);
  CHECK(code.find("# fake: perf=") != std::string::npos);
  CHECK(code.find("# fake: fail") == std::string::npos);
  CHECK(code_of(*sim("5?compile_error=0&wrong=1&slow=0&fake=1"), asking("gelu_tanh", 0))
            .find("# fake: fail") != std::string::npos);
  CHECK(code_of(*sim("5?compile_error=1&wrong=0&slow=0&fake=1"), asking("gelu_tanh", 0))
            .find("# fake: error=") != std::string::npos);
  const std::string shown = "```python\n" + code + "```\n\nVerdict: pass\n\n";
  const std::string plan =
      fake->complete(asking("gelu_tanh", 1, shown + "Answer without code."))->text;
  const std::optional<Ideas> planned = planned_ideas(plan);
  REQUIRE(planned);
  CHECK(*planned != ideas_in(code).front());
  CHECK(ideas_in(code_of(*fake, asking("gelu_tanh", 2, shown + plan))) ==
        std::vector<Ideas>{*planned});
}

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
        ErrorCode::not_found);  // the mark is not at the beginning of a line
}
