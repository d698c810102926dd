#include "server/transcripts/transcript.h"

#include <fstream>
#include <string>

#include "base/json.h"
#include "server/transcripts/redact.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

using namespace assay;
using namespace assay::transcripts;

namespace {

const Redactor kNoSecrets{{}};

Result<Transcript> read(const std::string& lines, const Redactor& redactor = kNoSecrets,
                        const TranscriptLimits& limits = {}) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "t.jsonl") << lines;
  return read_bench_transcript(folder.path() / "t.jsonl", redactor, limits);
}

constexpr const char* kLines =
    R"({"at_unix_ms":5000,"kind":"prompt","system":"be brief","messages":[{"role":"user","text":"write it"}]}
{"at_unix_ms":6999,"kind":"reply","text":"ok\nhunter2hunter2","stop_reason":"stop","input_tokens":8,"output_tokens":3}
{"at_unix_ms":7000,"kind":"tool_call","tool":"submit","arguments":{"run":"run_secret","operator":"vector_add","code":"x = 1\ny = 2"}}
{"at_unix_ms":7001,"kind":"tool_result","tool":"submit","is_error":false,"text":"pass","structured":{"job":"job_1"}}
{"at_unix_ms":8000,"kind":"prompt","system":"be brief","messages":[{"role":"user","text":"write it"},{"role":"user","text":"again"}]}
{"at_unix_ms":8001,"kind":"note","text":"done"}
{"at_unix_ms":8002,"kind":"rep)";

}  // namespace

TEST_CASE("the transcript of a bench has its steps, in whole seconds, without secrets") {
  const Transcript found = read(kLines, Redactor({"hunter2hunter2"})).value();
  std::vector<std::string> steps;
  for (const TranscriptStep& step : found.steps)
    steps.push_back(std::string(to_string(step.kind)) + " " + std::to_string(step.at_s) + " " +
                    step.name + ": " + step.text);
  // The second prompt repeats nothing, and the handle of the run is left out.
  CHECK(steps ==
        std::vector<std::string>{"prompt 0 system: be brief", "prompt 0 user: write it",
                                 "reply 1 stop: ok\n[secret]",
                                 "call 2 submit: code:\nx = 1\ny = 2\noperator: vector_add",
                                 "answer 2 submit: pass", "prompt 3 user: again", "note 3 : done"});
  CHECK(found.steps[2].output_tokens == 3);
  CHECK(found.steps[4].job == "job_1");
  CHECK(found.left_out == 0);
  const Transcript again = parse_transcript(transcript_text(found)).value();
  CHECK(transcript_text(again) == transcript_text(found));
}

TEST_CASE("a transcript is cut to its limits") {
  TranscriptLimits limits;
  limits.steps = 2;
  const Transcript few = read(kLines, kNoSecrets, limits).value();
  CHECK(few.steps.size() == 2);
  CHECK(few.left_out == 5);
  limits = {};
  limits.all_bytes = 10;
  CHECK(read(kLines, kNoSecrets, limits).value().steps.size() == 1);
  limits = {};
  limits.step_bytes = 4;
  CHECK(read(kLines, kNoSecrets, limits).value().steps[0].text == "b...");
  limits.file_bytes = 10;
  CHECK(read(kLines, kNoSecrets, limits).error().code == ErrorCode::resource_exhausted);
  CHECK(read("[]\n").error().code == ErrorCode::corrupt);
  CHECK(read_bench_transcript("/none", kNoSecrets).error().code == ErrorCode::not_found);
}

TEST_CASE("a stored transcript can be anything, and only a good one is read") {
  const std::string good = transcript_text(read(kLines).value());
  CHECK(parse_transcript(good));
  for (const std::string text :
       {"", "[]", "null", "\xff", "{\"format\":\"assay.transcript/1\"}",
        "{\"format\":\"assay.transcript/1\",\"steps\":[1]}",
        "{\"format\":\"assay.transcript/1\",\"steps\":[{\"kind\":\"prompt\"}]}",
        "{\"format\":\"assay.transcript/1\",\"steps\":[{\"kind\":\"x\",\"text\":\"\"}]}"})
    CHECK(parse_transcript(text).error().code == ErrorCode::corrupt);
  CHECK(parse_transcript(std::string(100'000, '[')).error().code == ErrorCode::corrupt);
  TranscriptLimits limits;
  limits.steps = 1;
  CHECK(parse_transcript(good, limits).error().code == ErrorCode::resource_exhausted);
  limits = {};
  limits.step_bytes = 3;
  CHECK(parse_transcript(good, limits).error().code == ErrorCode::resource_exhausted);
}

TEST_CASE("a redactor removes keys of services and private keys, and no ordinary words") {
  const Redactor redactor({"short", "a-long-secret", "a-long-secret-2"});
  CHECK(redactor.redacted("x a-long-secret-2 a-long-secret short") == "x [secret] [secret] short");
  CHECK(redactor.redacted("key=sk-abcdefghijklmnopqrst12, ok") == "key=[secret], ok");
  CHECK(redactor.redacted("Authorization: Bearer abcdefghijklmnop.1") ==
        "Authorization: Bearer [secret]");
  CHECK(redactor.redacted("-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\nnext") ==
        "[secret]\nnext");
  for (const std::string text :
       {"task-abcdefghijklmnopqrst12", "hf_attention_forward_and_backward_pass", "sk-1",
        "-----BEGIN CERTIFICATE-----\nMII"})
    CHECK(redactor.redacted(text) == text);
}

TEST_CASE("the secrets of the corpus of both redactors are removed") {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/common/secrets.json");
  const nlohmann::json corpus = nlohmann::json::parse(file);
  REQUIRE(corpus.at("secrets").size() > 20);
  for (const nlohmann::json& one : corpus.at("secrets")) {
    std::string secret, text = one.at("text");
    for (const std::string part : one.at("secret")) secret += part;
    INFO(text << " with " << secret);
    text.replace(text.find("{}"), 2, secret);
    const std::string shown = kNoSecrets.redacted(text);
    CHECK(shown.find(secret) == std::string::npos);
    CHECK(shown.find("[secret]") != std::string::npos);
  }
  for (const std::string text : corpus.at("no_secrets")) CHECK(kNoSecrets.redacted(text) == text);
}
