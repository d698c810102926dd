#include "server/observe/work_metrics.h"

#include <optional>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "server/observe/traces.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

using nlohmann::json;

bool has(const std::string& page, const std::string& line) {
  return page.find(line + "\n") != std::string::npos;
}

/// A call of no tool, and its answer.
struct Answered {
  mcp::ResolvedCall call;
  mcp::TransportContext transport;
  std::optional<json> response;
  TraceParent span = TraceParent::below(std::nullopt);
  std::optional<TraceParent> parent;
  mcp::MessageCounts::Ending ending = mcp::MessageCounts::Ending::ok;

  mcp::ObservedCall observed() const {
    return {call, transport, response, ending, 1'000, 5'000'000, span, parent};
  }
};

sandbox::Job grade_of(const std::string& traceparent) {
  sandbox::Job job;
  job.id = "job_1";
  job.kind = sandbox::JobKind::grade;
  job.traceparent = traceparent;
  return job;
}

/// A grade that failed at a hidden case, in a way that only a hidden case can cause.
sandbox::Verdict hidden_failure() {
  sandbox::Verdict verdict;
  verdict.kind = sandbox::JobKind::grade;
  verdict.outcome = sandbox::Outcome::fail;
  verdict.error_kind = sandbox::ErrorKind::gpu_fault;
  verdict.stage_ms = {{"queue", 1.0}, {"judge", 7.0}};
  sandbox::CaseRecord record;
  record.id = "secret_case";
  record.hidden = true;
  record.outcome = sandbox::Outcome::fail;
  verdict.cases.push_back(record);
  return verdict;
}

}  // namespace

TEST_CASE("call facts: handles and errors, and no other argument") {
  Answered answered;
  const std::string run = "run_" + std::string(26, '0');
  answered.call.message.params = {{"arguments", {{"run", run}, {"job", "my secret"}}}};
  answered.response = json{
      {"result", {{"isError", true}, {"structuredContent", {{"error", {{"code", "not_found"}}}}}}}};
  CallFacts facts = facts_of(answered.observed());
  CHECK(facts.method == "other");
  CHECK(facts.run == run);
  CHECK(facts.job.empty());
  CHECK(facts.error == "not_found");
  for (const auto& [answer, error] : std::vector<std::pair<json, std::string>>{
           {{{"error", {{"code", -32602}}}}, "invalid_params"},
           {{{"error", {{"code", 5}}}}, "other"},
           {{{"result", {{"structuredContent", {{"error_kind", "wrong_result"}}}}}},
            "wrong_result"},
           {{{"result", {{"structuredContent", {{"error_kind", "none"}}}}}}, ""},
           {{{"result", {{"structuredContent", {{"error_kind", "a client's word"}}}}}}, "other"},
           {{{"result", {{"isError", true}}}}, "other"},
           {{{"result", json::object()}}, ""}}) {
    answered.response = answer;
    CHECK(facts_of(answered.observed()).error == error);
  }
}

TEST_CASE("call facts: the class of a principal") {
  CHECK(class_of(nullptr) == "none");
  using mcp::Caller;
  CHECK(class_of(std::make_shared<const Caller>(Caller{"a", {"practice"}})) == "practice");
  CHECK(class_of(std::make_shared<const Caller>(Caller{"a", {"practice", "score"}})) == "score");
}

TEST_CASE("work metrics: calls and refusals") {
  WorkMetrics metrics;
  Answered answered;
  answered.response = json{{"error", {{"code", -32601}}}};
  answered.ending = mcp::MessageCounts::Ending::error;
  metrics.add(answered.observed(), facts_of(answered.observed()));
  answered.ending = mcp::MessageCounts::Ending::accepted;
  metrics.add(answered.observed(), facts_of(answered.observed()));
  metrics.add(mcp::HttpRecord{.status = 200});
  metrics.add(mcp::HttpRecord{.status = 429, .refusal = mcp::Refusal::rate});
  mcp::MetricsText text;
  metrics.write(text);
  CHECK(has(text.text(),
            R"(assay_calls_total{method="other",tool="",principal_class="none",outcome="error",)"
            R"(error="method_not_found"} 1)"));
  CHECK(has(text.text(), R"(assay_refused_total{reason="rate"} 1)"));
  CHECK(text.text().find(R"(reason="none")") == std::string::npos);
}

TEST_CASE("work metrics and traces: a grade shows what its client may see") {
  const sandbox::Job job = grade_of(TraceParent::below(std::nullopt).text());
  const sandbox::Verdict verdict = hidden_failure();
  const EndedJob ended{job, tools::JobState::finished, verdict, "fake", 10'000, 1'234, 1.0};
  WorkMetrics metrics;
  metrics.add(ended);
  mcp::MetricsText text;
  metrics.write(text);
  CHECK(has(text.text(), R"(assay_jobs_total{tool="submit",device="fake",outcome="fail",)"
                         R"(error="hidden_case"} 1)"));
  CHECK(has(text.text(), R"(assay_job_seconds_sum{tool="submit"} 2)"));
  CHECK(has(text.text(), R"(assay_job_queue_seconds_bucket{device="fake",le="0.005"} 1)"));
  CHECK(text.text().find("judge") == std::string::npos);
  CHECK(text.text().find("gpu_fault") == std::string::npos);

  const std::vector<Span> spans = spans_of(ended);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].name == "job submit");
  CHECK(spans[0].end_ns - spans[0].start_ns == 2'000'000'000);
  CHECK(spans[1].name == "stage queue");
  const std::string sent = otlp_request(spans, {.name = "assay", .version = "1"});
  for (const char* hidden : {"judge", "gpu_fault", "secret_case"})
    CHECK(sent.find(hidden) == std::string::npos);
}

TEST_CASE("metrics: the parts of the launches of a test, and no other names") {
  sandbox::Job job = grade_of(TraceParent::below(std::nullopt).text());
  job.kind = sandbox::JobKind::test;
  sandbox::Verdict verdict;
  verdict.kind = job.kind;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.launch = {
      .ms = {{"map", 250.0}, {"invented", 1.0}}, .new_contexts = 1, .kept_contexts = 2};
  WorkMetrics metrics;
  metrics.add({job, tools::JobState::finished, verdict, "fake", 10'000, 65, 5.0});
  mcp::MetricsText text;
  metrics.write(text);
  const std::string& written = text.text();
  for (const char* line : {"assay_job_launch_seconds_sum{part=\"map\"} 0.25\n",
                           "assay_job_contexts_total{device=\"fake\",state=\"new\"} 1\n",
                           "assay_job_contexts_total{device=\"fake\",state=\"kept\"} 2\n"})
    CHECK(written.find(line) != std::string::npos);
  CHECK(written.find("invented") == std::string::npos);
}

TEST_CASE("metrics: nothing of the launches of a grade, which hidden cases decide") {
  const sandbox::Job job = grade_of(TraceParent::below(std::nullopt).text());
  sandbox::Verdict verdict = hidden_failure();
  verdict.launch = {.ms = {{"map", 250.0}}, .new_contexts = 7, .kept_contexts = 0};
  WorkMetrics metrics;
  metrics.add({job, tools::JobState::finished, verdict, "fake", 10'000, 65, 5.0});
  mcp::MetricsText text;
  metrics.write(text);
  CHECK(text.text().find("part=\"map\"") == std::string::npos);
  CHECK(text.text().find("state=\"new\"") == std::string::npos);
}

TEST_CASE("traces: the stages of a test follow each other") {
  sandbox::Job job = grade_of(TraceParent::below(std::nullopt).text());
  job.kind = sandbox::JobKind::test;
  sandbox::Verdict verdict;
  verdict.kind = job.kind;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.stage_ms = {{"judge", 30.0}, {"import", 10.0}, {"run", 20.0}};
  const std::vector<Span> spans =
      spans_of({job, tools::JobState::finished, verdict, "fake", 10'000, 65, 5.0});
  CHECK(join(spans, ",", &Span::name) ==
        "job run_tests,stage queue,stage import,stage run,stage judge");
  CHECK(spans[0].start_ns == (10'000 - 65) * 1'000'000LL);
  CHECK(spans[1].start_ns == spans[0].start_ns);
  for (std::size_t i = 2; i < spans.size(); ++i) CHECK(spans[i].start_ns == spans[i - 1].end_ns);
  CHECK(spans.back().end_ns == spans[0].end_ns);
}

TEST_CASE("traces: a caller that is not sampled gets no spans") {
  TraceParent parent = TraceParent::below(std::nullopt);
  parent.sampled = false;
  const sandbox::Job job = grade_of(parent.text());
  const sandbox::Verdict verdict = hidden_failure();
  CHECK(spans_of({job, tools::JobState::finished, verdict, "fake", 1, 1, 0}).empty());
}

}  // namespace assay::server
