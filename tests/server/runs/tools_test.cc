#include <cstdint>
#include <memory>

#include "tests/server/runs/tool_bench.h"

namespace assay::tools {

using mcp::ToolResult;
using nlohmann::json;
using testing::has;
using testing::kConciseChars;
using testing::ServicesFixture;
using testing::ToolBench;

TEST_CASE(
    "the list of tools is the one in the documents, with schemas that the validator knows in "
    "full") {
  ToolBench bench;
  const std::vector<std::string> names = {
      "check",           "compile",       "fetch_spec",   "job",       "list_operators",
      "profile",         "read_artifact", "report_usage", "run_tests", "scorecard",
      "search_examples", "start_run",     "submit"};
  REQUIRE(bench.tools().size() == names.size());
  for (const std::string& name : names) {
    INFO(name);
    REQUIRE(bench.tools().count(name) == 1);
    const mcp::Tool& tool = bench.tools().at(name);
    CHECK(mcp::lint_schema(tool.input_schema));
    CHECK(mcp::lint_schema(tool.output_schema));
    CHECK(mcp::lint_schema(tool.listed_output_schema));
    CHECK(tool.input_schema["additionalProperties"] == false);
    CHECK(tool.description.size() < 400);
    CHECK_FALSE(tool.title.empty());
  }
}

TEST_CASE("list_operators filters, and names what it lists") {
  ToolBench bench;
  CHECK(bench.call("list_operators", json::object()).structured["names"] ==
        json({"row_sum", "vector_add"}));
  CHECK(bench.call("list_operators", {{"query", "VECTOR sum"}}).structured["matched"] == 2);
  CHECK(bench.call("list_operators", {{"query", "add"}}).structured["names"] ==
        json({"vector_add"}));
  CHECK(bench.call("list_operators", {{"split", "ood"}}).structured["matched"] == 0);
  CHECK(bench.call("list_operators", {{"difficulty", 1}}).structured["operators"].size() == 2);
  CHECK(bench.call("list_operators", {{"difficulty", 5}}).structured["matched"] == 0);
}

TEST_CASE("list_operators that finds nothing suggests a query") {
  ToolBench bench;
  const auto next = [&](const json& arguments) {
    return bench.call("list_operators", arguments).structured["next"].get<std::string>();
  };
  CHECK(next({{"query", "vectr add"}}) == "Did you mean the query 'vector add'?");
  CHECK(next({{"query", "vectr"}, {"split", "ood"}}) ==
        "Did you mean the query 'vector'? Omit a filter.");
  CHECK(next({{"query", "zebra"}}) == "Use other words; without a query all operators are listed.");
  CHECK(next({{"split", "ood"}}) == "Omit a filter.");
}

TEST_CASE("fetch_spec shows what is needed, never the oracle or a hidden case") {
  ToolBench bench;
  for (const char* format : {"concise", "detailed"}) {
    const ToolResult answer =
        bench.call("fetch_spec", {{"operator", "vector_add"}, {"response_format", format}});
    const std::string all = answer.text + answer.structured.dump();
    for (const char* part : {"vector_add(x: Tensor, y: Tensor) -> Tensor", "def reference(",
                             "awkward", "1000003", "0.01", "z[i] = x[i] + y[i]", "3 hidden ones"}) {
      INFO(part);
      CHECK(has(answer.text, part));
    }
    for (const char* secret : {"secret", "ORACLE", "777777", "888888", "cancell", "def inputs"}) {
      INFO(secret);
      CHECK_FALSE(has(all, secret));
    }
    const std::size_t cpu = answer.text.find("run on a GPU and on a CPU:\n- small: float32");
    const std::size_t gpu = answer.text.find("and on a GPU only:\n- ");
    CHECK(cpu != std::string::npos);
    CHECK(gpu != std::string::npos);
    CHECK(cpu < gpu);
    CHECK(answer.structured["hidden_cases"] == 3);
    CHECK(answer.structured["entry"] == "vector_add");
  }
  const ToolResult unknown = bench.call("fetch_spec", {{"operator", "vectoradd"}});
  CHECK(unknown.is_error);
  CHECK(has(unknown.text, "did you mean 'vector_add'"));
}

TEST_CASE(
    "search_examples finds by words and by code, and shows whole sources as far as there is room") {
  ToolBench bench;
  const ToolResult words = bench.call("search_examples", {{"query", "lock with compare and swap"}});
  CHECK(words.text.starts_with("ok: 3 examples by query\natomic_cas_lock ("));
  CHECK(has(words.text, "def post_all(amounts):\n"));
  CHECK_FALSE(has(words.text, "def check("));
  REQUIRE(words.structured["examples"].size() == 3);
  const json& best = words.structured["examples"][0];
  CHECK(best["name"] == "atomic_cas_lock");
  CHECK(best["by"] == "query");
  CHECK(best["score"] > words.structured["examples"][1]["score"]);
  CHECK(has(best["source"], "tl.atomic_cas(lock_ptr, 0, 1"));

  const ToolResult code = bench.call(
      "search_examples",
      {{"code", "while tl.atomic_cas(mutex, 0, 1, sem=\"acquire\") == 1:\n    pass"}, {"k", 1}});
  REQUIRE(code.structured["examples"].size() == 1);
  CHECK(code.structured["examples"][0]["name"] == "atomic_cas_lock");
  CHECK(code.structured["examples"][0]["by"] == "code");

  for (const char* query : {"mask", "tl.load", "scan OR sort", "rows"}) {
    INFO(query);
    const ToolResult concise = bench.call("search_examples", {{"query", query}, {"k", 10}});
    const ToolResult detailed = bench.call(
        "search_examples", {{"query", query}, {"k", 10}, {"response_format", "detailed"}});
    CHECK(concise.structured["examples"][0].contains("source"));
    CHECK_FALSE(concise.structured.contains("truncated"));
    CHECK(has(concise.text, "left out to keep the answer small"));
    for (const json& example : concise.structured["examples"])
      CHECK(has(concise.text, example["title"]));
    REQUIRE(detailed.structured["examples"].size() == 10);
    for (const json& example : detailed.structured["examples"])
      CHECK(has(detailed.text, example.value("source", "missing")));
  }
  const ToolResult none = bench.call("search_examples", {{"query", "zebra"}});
  CHECK(none.structured["examples"].empty());
  CHECK(has(none.text, "other words"));
}

TEST_CASE(
    "search_examples takes one of query and code, and nothing of either is a query language") {
  ToolBench bench;
  for (const json& arguments :
       {json::object(), json{{"k", 2}}, json{{"query", "scan"}, {"code", "x = 1"}}}) {
    const ToolResult refused = bench.call("search_examples", arguments);
    CHECK(refused.structured["error"]["code"] == "invalid_argument");
    CHECK(has(refused.text, "valid: one of them, query"));
  }
  CHECK(has(bench.call("search_examples", {{"query", " \"*"}}).text, "no word"));
  CHECK(has(bench.call("search_examples", {{"code", "x"}}).text, "five tokens"));
  CHECK_FALSE(
      bench.call("search_examples", {{"query", "name:x\" OR NEAR(a b) AND NOT ^*"}}).is_error);
  const auto schema = mcp::Schema::compile(bench.tools().at("search_examples").input_schema);
  for (const json& wrong : {json{{"query", "scan"}, {"k", 0}}, json{{"query", "scan"}, {"k", 11}},
                            json{{"query", std::string(201, 'x')}}})
    CHECK_FALSE(schema->check(wrong).empty());
}

TEST_CASE("run_tests answers the outcome first, then what failed and what to do") {
  ToolBench bench;
  const ToolResult pass = bench.grade("run_tests", "# fake: pass\n");
  CHECK(pass.text.starts_with("pass: 3 of 3 cases pass"));
  CHECK(pass.structured["outcome"] == "pass");
  CHECK(pass.structured["status"] == "finished");
  CHECK(pass.structured["cases"].size() == 3);

  const ToolResult wrong = bench.grade("run_tests", "# fake: fail\n");
  CHECK_FALSE(wrong.is_error);
  CHECK(wrong.text.starts_with("fail (wrong_result): "));
  CHECK(has(wrong.text, "expected 1, got 0.5"));
  CHECK(wrong.structured["error_type"] == "ResultsError");

  const ToolResult broken =
      bench.grade("run_tests", "import triton\n# fake: error=compilation_error\n");
  CHECK(broken.text.starts_with("error (compilation_error): "));
  CHECK(has(broken.text, "line 2: # fake: error=compilation_error"));
  CHECK(has(broken.text, "next: "));
  CHECK(broken.structured["diagnostic"]["line"] == 2);
  CHECK(broken.structured["error_group"] == "Runtime & Logic");
}

TEST_CASE("bad arguments are refused with the valid values, and are not charged") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::one_shot);
  CHECK(has(bench.grade("run_tests", "x", run, "nope").text, "unknown operator 'nope'"));
  CHECK(has(bench.grade("run_tests", " \n", run).text, "code is empty"));
  CHECK(has(bench.grade("run_tests", std::string("a\0b", 3), run).text, "binary"));
  // The schema counts characters, and the limit of a source counts bytes.
  std::string two_bytes_each = "#";
  for (int i = 0; i < 1 << 19; ++i) two_bytes_each += "\u00e9";
  CHECK(has(bench.grade("run_tests", two_bytes_each, run).text,
            "1048577 bytes; the limit is 1048576"));
  CHECK(has(
      bench
          .call("profile",
                {{"operator", "vector_add"}, {"code", "x"}, {"case", "secret_tiny"}, {"run", run}})
          .text,
      "valid: small, awkward, large"));
  CHECK(has(
      bench
          .call("compile",
                {{"operator", "vector_add"}, {"code", "x"}, {"targets", {"tpu:1"}}, {"run", run}})
          .text,
      "cuda:90"));
  CHECK(has(bench.grade("submit", "x", "run_x").text, "start_run"));
  for (const char* tool : {"compile", "run_tests", "profile", "submit"})
    CHECK_FALSE(bench.grade(tool, "# fake: pass\n", run).is_error);
}

TEST_CASE("submit grades hidden cases and shows nothing of them") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  for (const char* format : {"concise", "detailed"}) {
    const ToolResult answer = bench.call(
        "submit", {{"operator", format == std::string("concise") ? "vector_add" : "row_sum"},
                   {"code", "# fake: fail\n"},
                   {"run", run},
                   {"response_format", format}});
    REQUIRE(answer.structured["cases"].size() == 3);  // the public cases, which are wrong
    CHECK(has(answer.text, "3 of 3 cases wrong"));
    CHECK_FALSE(answer.structured.contains("tells_hidden"));
    CHECK_FALSE(answer.structured.contains("stage_ms"));
    CHECK(answer.structured["elapsed_ms"].get<std::int64_t>() % 1'000 == 0);
    for (const char* secret : {"secret", "777777", "888888", "cancell"})
      CHECK_FALSE(has(answer.text + answer.structured.dump(), secret));
    // The simulated device ran the hidden cases too, so nothing is said about wrong elements.
    CHECK_FALSE(answer.structured["cases"][0].contains("first_mismatch"));
  }
  const ToolResult passed = bench.call("submit", {{"operator", "vector_add"},
                                                  {"code", "# fake: pass\n"},
                                                  {"run", bench.services.start(Track::iterative)}});
  REQUIRE(passed.structured["cases"].size() == 6);
  CHECK(passed.structured["cases"][3]["id"] == "hidden_1");
  CHECK_FALSE(has(passed.structured.dump(), "secret"));
}

TEST_CASE(
    "perf is shown where the device times, and profile takes the last public case unless told") {
  ToolBench bench;
  const ToolResult last = bench.grade("profile", "# fake: perf=2\n");
  CHECK(last.structured["cases"].size() == 1);
  CHECK(last.structured["cases"][0]["id"] == "large");
  CHECK(last.structured["perf"] == 2.0);
  CHECK(has(last.text, "(2x)"));
  const ToolResult chosen = bench.call(
      "profile", {{"operator", "vector_add"}, {"code", "# fake: pass\n"}, {"case", "small"}});
  CHECK(chosen.structured["cases"][0]["id"] == "small");
}

TEST_CASE("compile reports kernels per target, and artifacts that read_artifact reads") {
  ToolBench bench;
  const ToolResult answer = bench.call("compile", {{"operator", "vector_add"},
                                                   {"code", "# fake: pass\n"},
                                                   {"targets", {"cuda:90", "hip:gfx942"}}});
  REQUIRE(answer.structured["kernels"].size() == 2);
  CHECK(answer.structured["kernels"][1]["target"] == "hip:gfx942");
  CHECK(has(answer.text, "32 registers"));
  CHECK(bench.grade("compile", "# fake: pass\n").structured["kernels"][0]["target"] == "cuda:90");
  REQUIRE(answer.structured["artifacts"].size() == 2);
  const std::string handle = answer.structured["artifacts"][0]["artifact"];
  const ToolResult whole = bench.call("read_artifact", {{"artifact", handle}});
  CHECK(has(whole.structured["text"], "compiles nothing"));
  CHECK(bench.call("read_artifact", {{"artifact", handle}, {"offset", 3}, {"limit", 2}})
            .structured["text"] == "no");
  CHECK(bench.call("read_artifact", {{"artifact", "/etc/passwd"}}).is_error);
  CHECK(bench.call("read_artifact", {{"artifact", new_handle("artifact")}}).is_error);
}

TEST_CASE("an answer says which artifacts are not kept, and why; the outcome stays") {
  ToolBench bench({}, {.artifacts = {.job_bytes = 100}});
  const json arguments = {{"operator", "vector_add"},
                          {"code", "# fake: pass\n"},
                          {"targets", {"cuda:90", "hip:gfx942"}}};
  const ToolResult answer = bench.call("compile", arguments);
  CHECK(answer.structured["outcome"] == "pass");
  CHECK(answer.structured["artifacts"].size() == 1);
  CHECK(has(answer.text, "artifacts not kept: 1 (job_quota)"));
  const json dropped = {{{"kind", "ptx"},
                         {"name", "fake_kernel hip:gfx942"},
                         {"bytes", 45},
                         {"reason", "job_quota"}}};
  CHECK(answer.structured["artifacts_dropped"] == dropped);
  const ToolResult again = bench.call("job", {{"job", answer.structured["job"]}});
  CHECK(again.structured["artifacts_dropped"] == dropped);
  ToolBench roomy;
  CHECK_FALSE(roomy.call("compile", arguments).structured.contains("artifacts_dropped"));
}

TEST_CASE("a large artifact is read in pieces that fit, and grep finds lines by substring") {
  ToolBench bench;
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += "line " + std::to_string(i) + (i % 7'000 == 5 ? " (needle.*)" : "") + "\n";
  const std::string handle = bench.services.artifact({"ptx", "kernel", text});
  std::string read;
  std::int64_t offset = 0;
  for (int i = 0; i < 10; ++i) {
    const ToolResult piece =
        bench.call("read_artifact", {{"artifact", handle}, {"offset", offset}});
    read += piece.structured["text"].get<std::string>();
    CHECK(piece.structured["next_offset"] > offset);
    offset = piece.structured["next_offset"];
  }
  CHECK(text.starts_with(read));
  const ToolResult found =
      bench.call("read_artifact", {{"artifact", handle}, {"grep", "needle.*"}});
  CHECK(has(found.text, "3 lines with 'needle.*'"));
  CHECK(has(found.text, ": line 7005 (needle.*)"));
  const ToolResult many = bench.call("read_artifact", {{"artifact", handle}, {"grep", "line"}});
  CHECK(many.structured["next_offset"] < many.structured["total_bytes"]);

  std::string binary;
  for (int i = 0; i < 40'000; ++i) binary += static_cast<char>(i * 7);
  const std::string plan = bench.services.artifact({"plan", "small", binary});
  const ToolResult bytes = bench.call("read_artifact", {{"artifact", plan}});
  CHECK(bytes.structured["next_offset"] > 0);
}

TEST_CASE("a call that takes long is answered with a handle; `job` waits for it or cancels it") {
  ToolBench bench({.answer_within_ms = 50});
  const ToolResult running = bench.grade("run_tests", "# fake: sleep_ms=400\n");
  CHECK_FALSE(running.is_error);
  CHECK(running.structured["status"] == "running");
  const std::string job = running.structured["job"];
  CHECK(has(running.text, "Call `job` with job=" + job));
  const ToolResult done = bench.call("job", {{"job", job}, {"wait_s", 20}});
  CHECK(done.structured["outcome"] == "pass");
  CHECK(bench.call("job", {{"job", job}}).structured["outcome"] == "pass");

  const std::string endless =
      bench.grade("run_tests", "# fake: sleep_ms=50000\n").structured["job"];
  CHECK(bench.call("job", {{"job", endless}, {"wait_s", 0}}).structured["status"] == "running");
  const ToolResult stopped = bench.call("job", {{"job", endless}, {"cancel", true}, {"wait_s", 5}});
  CHECK(stopped.structured["state"] == "cancelled");
  CHECK(bench.call("job", {{"job", "job_x"}}).is_error);
  CHECK(bench.call("job", {{"job", job}, {"wait_s", 60}}).structured["outcome"] ==
        "pass");  // a `wait_s` above the maximum is no error
}

TEST_CASE("a client that disconnects cancels a test, never a submission") {
  ToolBench bench;
  const std::string run = bench.services.start(Track::iterative);
  bench.stop.request_stop();
  CHECK(bench.grade("run_tests", "# fake: sleep_ms=30000\n").structured["state"] == "cancelled");
  const ToolResult submitted = bench.grade("submit", "# fake: sleep_ms=600\n", run);
  CHECK(submitted.structured["status"] == "running");
  bench.stop = std::stop_source();
  CHECK(bench.call("job", {{"job", submitted.structured["job"]}, {"wait_s", 20}})
            .structured["outcome"] == "pass");
}

TEST_CASE(
    "the real catalog fits: every concise spec is within its size, and no more than its reference "
    "is cut; a detailed one is whole") {
  const auto catalog = operators::Catalog::load(std::string(ASSAY_SOURCE_DIR) + "/operators");
  REQUIRE(catalog);
  ServicesFixture fixture;
  const Services services = {.catalog = *catalog,
                             .runs = fixture->runs(),
                             .jobs = fixture->jobs(),
                             .artifacts = fixture->artifacts()};
  mcp::RequestContext context;
  for (const mcp::Tool& tool : make_tools(services)) {
    if (tool.name != "fetch_spec") continue;
    for (const auto& op : catalog->all()) {
      INFO(op.name);
      const ToolResult answer = tool.call({{"operator", op.name}}, context);
      CHECK(answer.text.size() <= kConciseChars);
      CHECK(has(answer.text, op.description));
      if (op.name == "silu")
        CHECK(has(answer.text, "abs error <= 0.0001 (compared as error * 100 <= 0.01)"));
      for (const operators::Argument& argument : op.arguments)
        CHECK(has(answer.text, "- " + argument.name + ": "));
      const std::string detailed =
          tool.call({{"operator", op.name}, {"response_format", "detailed"}}, context).text;
      CHECK(has(detailed, op.description));
      CHECK_FALSE(has(detailed, "(cut"));
      for (const auto& item : op.cases) {
        if (item.hidden) CHECK_FALSE(has(answer.text + answer.structured.dump(), item.id));
      }
    }
  }
}

}  // namespace assay::tools
