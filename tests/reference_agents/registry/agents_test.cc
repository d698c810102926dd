// Runs each agent against a fake server. Checks which versions an agent keeps and submits, and that
// an interrupted attempt ends like an uninterrupted attempt.
#include "reference_agents/registry/agents.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/handle.h"
#include "tests/catch.h"
#include "tests/reference_agents/registry/judge.h"

using namespace assay;
using namespace assay::agents;
using namespace assay::agents::testing;

TEST_CASE("leader keeps better versions, drops others, and reports an edit that matches nothing") {
  Fixture fixture;
  Answers model({module_of("broken"), edit_of("nowhere", "x"), edit_of("broken", "perf=0.5"),
                 edit_of("perf=0.5", "wrong"), edit_of("perf=0.5", "perf=0.9"),
                 edit_of("perf=0.9", "perf=0.3")});
  const Result<Attempt> attempt = fixture.attempt("leader?rounds=6", model);
  REQUIRE(attempt);
  CHECK(attempt->outcome == "pass");
  CHECK(attempt->replies == 6);
  CHECK(fixture.server.submitted.find("perf=0.9") != std::string::npos);
  CHECK(model.prompts[2].messages[0].text.find("edit 1 matches nothing") != std::string::npos);
  CHECK(model.prompts[4].messages[0].text.find("taken back") != std::string::npos);
  CHECK(model.prompts[4].messages[0].text.find("wrong_result") != std::string::npos);
}

TEST_CASE("agents send a source once, and then its handle and the model's edits") {
  const std::string agent = GENERATE("leader?rounds=3", "alphaevolve?diff=1&attempts=3");
  INFO(agent);
  Fixture fixture;
  const std::string body = "def f(x):\n" + std::string(500, '#') + "\n    return x\n";
  Answers model({"```python\n# perf=0.5\n" + body + "```\n", edit_of("perf=0.5", "perf=0.7"),
                 "Faster.\n" + edit_of("perf=0.7", "perf=0.9")});
  REQUIRE(fixture.attempt(agent, model));
  CHECK(fixture.server.submitted == "# perf=0.9\n" + body);
  const std::vector<json>& sent = fixture.server.sent;
  REQUIRE(sent.size() == 10);  // compile, run_tests and profile of three versions, and submit
  CHECK(sent[0].at("code") == "# perf=0.5\n" + body);
  for (std::size_t i = 1; i < sent.size(); ++i) {
    INFO(i);
    CHECK_FALSE(sent[i].contains("code"));
    CHECK(sent[i].at("source") == "job_" + std::to_string(i - 1));
    CHECK(sent[i].contains("edits") == (i == 3 || i == 6));
  }
  CHECK(sent[6].at("edits") == edit_of("perf=0.7", "perf=0.9"));  // without the model's prose
}

TEST_CASE("a server that no longer has an earlier job gets the whole source") {
  const std::string agent = GENERATE("leader?rounds=2", "alphaevolve?diff=1&attempts=2");
  INFO(agent);
  Fixture fixture;
  fixture.server.forgets = true;
  const std::string body = "def f(x):\n" + std::string(500, '#') + "\n    return x\n";
  Answers model({"```python\n# perf=0.5\n" + body + "```\n", edit_of("perf=0.5", "perf=0.7")});
  REQUIRE(fixture.attempt(agent, model));
  CHECK(fixture.server.submitted == "# perf=0.7\n" + body);
  CHECK(fixture.server.sent.size() == 7);
  for (const json& arguments : fixture.server.sent) CHECK(arguments.contains("code"));
}

TEST_CASE("alphaevolve shows the evaluator's words and submits the best of at most five") {
  Fixture fixture;
  Answers model({module_of("broken"), module_of("wrong"), module_of("perf=0.7"),
                 module_of("perf=0.2"), module_of("wrong again")});
  const Result<Attempt> attempt = fixture.attempt("alphaevolve", model);
  REQUIRE(attempt);
  CHECK(model.prompts.size() == 5);
  CHECK(fixture.server.submitted.find("perf=0.7") != std::string::npos);
  CHECK(model.prompts[1].messages[0].text.find("Verdict: error: syntax_error") !=
        std::string::npos);
  CHECK(fixture.server.calls["run_tests"] == 4);  // one of the five versions does not compile
}

TEST_CASE("alphaevolve with diff edits the best version, and says why a reply could not be used") {
  Fixture fixture;
  Answers model({module_of("perf=0.2"), edit_of("perf=0.2", "perf=0.4"),
                 edit_of("perf=0.2", "perf=0.9"), edit_of("perf=0.4", "perf=0.6")});
  REQUIRE(fixture.attempt("alphaevolve?diff=1&attempts=4", model));
  CHECK(fixture.server.submitted.find("perf=0.6") != std::string::npos);
  CHECK(model.prompts[3].messages[0].text.find("could not be used: edit 1 matches nothing") !=
        std::string::npos);
}

TEST_CASE("geak drops an approach after max_debug failed repairs, and plans from its pool") {
  Fixture fixture;
  SECTION("debugging trap") {
    Answers model({module_of("broken 0"), "why", module_of("broken 1"), "why",
                   module_of("broken 2"), module_of("wrong 3")});
    const Result<Attempt> attempt = fixture.attempt("geak?iterations=4&max_debug=2", model);
    REQUIRE(attempt);
    REQUIRE(model.prompts.size() == 6);
    CHECK(model.prompts[5].messages[0].text.find("was dropped") != std::string::npos);
    CHECK(fixture.server.submitted.find("wrong 3") != std::string::npos);  // the best version
  }
  SECTION("pool") {
    Answers model({module_of("perf=0.5"), "thought", "plan", module_of("perf=0.8"), "thought",
                   "plan", module_of("perf=0.6")});
    const Result<Attempt> attempt = fixture.attempt("geak?iterations=3", model);
    REQUIRE(attempt);
    CHECK(fixture.server.submitted.find("perf=0.8") != std::string::npos);
    const std::string& plan = model.prompts[5].messages[0].text;
    CHECK(plan.find("perf=0.5") < plan.find("perf=0.8"));
  }
}

TEST_CASE("each part of geak can be turned off") {
  Fixture fixture;
  const auto text_of = [](const Answers& model, std::size_t i) {
    return model.prompts.at(i).messages[0].text;
  };
  SECTION("no debugging trap: the same approach to the end") {
    Answers model(
        {module_of("broken 0"), "why", module_of("broken 1"), "why", module_of("broken 2")});
    REQUIRE(fixture.attempt("geak?iterations=9&max_debug=0", model));
    CHECK(model.prompts.size() == 1 + 2 * 8);
    for (const CompletionRequest& prompt : model.prompts)
      CHECK(prompt.messages[0].text.find("was dropped") == std::string::npos);
  }
  SECTION("no reflector: one request for each version") {
    Answers model({module_of("broken"), module_of("wrong"), module_of("perf=0.5"), "plan",
                   module_of("perf=0.8")});
    REQUIRE(fixture.attempt("geak?iterations=4&reflect=0", model));
    REQUIRE(model.prompts.size() == 5);
    CHECK(text_of(model, 1).find("What a colleague found") == std::string::npos);
    CHECK(text_of(model, 1).find("Verdict: error: syntax_error") != std::string::npos);
    CHECK(text_of(model, 3).find("What was thought of it") == std::string::npos);
    CHECK(fixture.server.submitted.find("perf=0.8") != std::string::npos);
  }
  SECTION("no optimizer: the first correct version ends it") {
    Answers model({module_of("broken"), "why", module_of("perf=0.5"), module_of("perf=0.8")});
    REQUIRE(fixture.attempt("geak?optimize=0", model));
    CHECK(model.prompts.size() == 3);
    CHECK(fixture.server.submitted.find("perf=0.5") != std::string::npos);
  }
  SECTION("no pool: the optimizer sees the fastest version only") {
    Answers model({module_of("perf=0.5"), "thought", "plan", module_of("perf=0.8"), "thought",
                   "plan", module_of("perf=0.6")});
    REQUIRE(fixture.attempt("geak?iterations=3&ancestors=1", model));
    CHECK(text_of(model, 5).find("perf=0.8") != std::string::npos);
    CHECK(text_of(model, 5).find("perf=0.5") == std::string::npos);
  }
  SECTION("no cascade: what does not compile costs a test") {
    Answers model({module_of("broken"), "why", module_of("wrong"), "why", module_of("perf=0.5")});
    REQUIRE(fixture.attempt("geak?iterations=3&cascade=0", model));
    CHECK(fixture.server.calls["compile"] == 0);
    CHECK(fixture.server.calls["run_tests"] == 3);
    CHECK(fixture.server.calls["profile"] == 1);
  }
  SECTION("knowledge comes from the server's resources, and only if asked for") {
    Answers model({module_of("perf=0.5")});
    REQUIRE(fixture.attempt("geak?iterations=1&knowledge=1", model));
    CHECK(model.prompts[0].system.find("Mask every load") != std::string::npos);
    CHECK(fixture.server.calls["read guide://triton-pitfalls"] == 1);
    CHECK(fixture.server.calls.count("read operator://f/spec") == 0);
    Fixture other;
    REQUIRE(other.attempt("geak?iterations=1", model));
    CHECK(model.prompts.back().system.find("Mask every load") == std::string::npos);
  }
}

TEST_CASE(
    "geak's instances take turns, share only the budgets, and the best version is submitted") {
  Fixture fixture;
  Answers model({module_of("broken a"), module_of("perf=0.9"), "why a", module_of("perf=0.4"),
                 "plan b", module_of("perf=0.2")});
  REQUIRE(fixture.attempt("geak?iterations=2&instances=2&reflect=1", model));
  REQUIRE(model.prompts.size() >= 4);
  const auto text_of = [&](std::size_t i) { return model.prompts.at(i).messages[0].text; };
  CHECK(text_of(1).find("broken a") == std::string::npos);  // the second instance starts empty
  CHECK(text_of(1).find("Write a version that is right first of all") != std::string::npos);
  // Prompt 3 asks the first instance to repair its own version. The prompt contains nothing of the
  // second instance.
  CHECK(text_of(3).find("broken a") != std::string::npos);
  CHECK(text_of(3).find("perf=0.9") == std::string::npos);
  CHECK(model.prompts[0].temperature == 1.0);
  CHECK(fixture.server.submitted.find("perf=0.9") != std::string::npos);
  Fixture single;
  REQUIRE(single.attempt("geak?iterations=1", model));
  CHECK_FALSE(model.prompts.back().temperature.has_value());  // the provider's default
}

TEST_CASE("alphaevolve's islands start independently and exchange their best at a migration") {
  Fixture fixture;
  Answers model({module_of("broken a"), module_of("perf=0.5"), module_of("wrong c"),
                 module_of("perf=0.4"), module_of("perf=0.3")});
  REQUIRE(fixture.attempt("alphaevolve?attempts=5&islands=2&migrate=4", model));
  const auto text_of = [&](std::size_t i) { return model.prompts.at(i).messages[0].text; };
  CHECK(text_of(1).find("Write the first version") != std::string::npos);
  CHECK(text_of(2).find("broken a") != std::string::npos);
  CHECK(text_of(2).find("perf=0.5") == std::string::npos);
  CHECK(text_of(3).find("perf=0.5") != std::string::npos);
  CHECK(text_of(3).find("wrong c") == std::string::npos);
  CHECK(text_of(4).find("perf=0.5") != std::string::npos);  // this program has migrated
  CHECK(fixture.server.submitted.find("perf=0.5") != std::string::npos);
}

TEST_CASE("without times an attempt ends at the first correct version, and says so") {
  for (const char* agent : {"leader", "alphaevolve", "geak"}) {
    Fixture fixture;
    fixture.server.timed = false;
    Answers model({module_of("perf=0.1")});
    const Result<Attempt> attempt = fixture.attempt(agent, model);
    REQUIRE(attempt);
    CHECK(model.prompts.size() == 1);
    CHECK(fixture.server.calls["profile"] == 0);
    CHECK(attempt->explanation.find("nothing is timed") != std::string::npos);
  }
}

TEST_CASE(
    "an attempt interrupted anywhere ends like an uninterrupted one, without repeated calls") {
  const std::vector<std::string> texts = {module_of("broken"), module_of("wrong"),
                                          module_of("perf=0.7"), module_of("perf=0.9"),
                                          module_of("perf=0.2")};
  const std::string agent =
      GENERATE("one_shot", "leader", "alphaevolve",
               "alphaevolve?attempts=9&islands=2&migrate=2&archive=1&min_perf=0.5",
               "alphaevolve?attempts=6&islands=3&diff=1&archive=1&others=4", "geak?iterations=4",
               "geak?iterations=3&instances=3",
               "geak?iterations=5&max_debug=0&ancestors=1&reflect=0&knowledge=1&example=1",
               "geak?cascade=0&optimize=0&instances=2");
  Fixture whole;
  Answers once(texts);
  const Result<Attempt> expected = whole.attempt(agent, once);
  REQUIRE(expected);
  for (int cut = 0; cut < static_cast<int>(expected->tool_calls); ++cut) {
    INFO(agent << " cut after " << cut);
    Fixture fixture;
    Answers model(texts);
    fixture.server.calls_left = cut;
    REQUIRE_FALSE(fixture.attempt(agent, model));
    fixture.server.calls_left = 1'000'000;
    const Result<Attempt> attempt = fixture.attempt(agent, model);
    REQUIRE(attempt);
    CHECK(fixture.server.submitted == whole.server.submitted);
    CHECK(model.prompts.size() == once.prompts.size());
    CHECK(attempt->tool_calls == expected->tool_calls);
    CHECK(attempt->input_tokens == expected->input_tokens);
    CHECK(fixture.server.calls == whole.server.calls);
  }
}

TEST_CASE("after a refused prompt the best version is submitted, also in a continued attempt") {
  const std::string agent = GENERATE("leader", "alphaevolve", "geak?iterations=5&reflect=0");
  Fixture whole;
  Answers once({module_of("perf=0.7"), module_of("wrong")});
  once.refused_from = 2;
  const Result<Attempt> expected = whole.attempt(agent, once);
  REQUIRE(expected);
  INFO(agent);
  CHECK(expected->outcome == "pass");
  CHECK(whole.server.submitted.find("perf=0.7") != std::string::npos);
  CHECK(expected->explanation.find("the endpoint refused a prompt: HTTP 400: too long") !=
        std::string::npos);
  CHECK(once.prompts.size() == 2 + kMostPromptRefusals);
  for (int cut = 0; cut < static_cast<int>(expected->tool_calls); ++cut) {
    Fixture fixture;
    Answers model({module_of("perf=0.7"), module_of("wrong")});
    model.refused_from = 2;
    fixture.server.calls_left = cut;
    REQUIRE_FALSE(fixture.attempt(agent, model));
    fixture.server.calls_left = 1'000'000;
    const Result<Attempt> attempt = fixture.attempt(agent, model);
    REQUIRE(attempt);
    CHECK(attempt->explanation == expected->explanation);
    CHECK(model.prompts.size() == once.prompts.size());
    CHECK(fixture.server.calls == whole.server.calls);
  }
}

TEST_CASE("names of agents and options") {
  CHECK(parse_agent("geak?max_debug=2")->options.at("max_debug") == 2);
  CHECK(parse_agent("geak")->options.at("max_debug") == 5);
  CHECK(parse_agent("two_shot").error().message ==
        "unknown agent 'two_shot'; valid: one_shot, leader, alphaevolve, geak");
  CHECK(parse_agent("leader?rounds=1.5").error().code == ErrorCode::invalid_argument);
  CHECK(parse_agent("one_shot?rounds=1").error().message.find("no option") != std::string::npos);
  CHECK(parse_agent("leader?").error().code == ErrorCode::invalid_argument);
}
