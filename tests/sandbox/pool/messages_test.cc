#include "sandbox/pool/messages.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using nlohmann::json;

namespace {

Frame frame(json header, std::string payload = {}) {
  return {std::move(header), std::move(payload), {}};
}

template <class T>
bool refuses(Result<T> (*parse)(const Frame&), const json& header) {
  return !parse(frame(header));
}

bool candidate_refuses(const json& header) {
  Frame message = frame(header);
  return !parse_candidate(message);
}

const json kFirst = {
    {"output", "y"}, {"index", {1, 2}}, {"expected", 1.5}, {"actual", "-inf"}, {"unstored", true}};
const json kCompared = {{"type", "compared"},
                        {"job", "j"},
                        {"case", "a"},
                        {"ok", false},
                        {"kind", "wrong_result"},
                        {"reason", "off"},
                        {"max_abs_error", "nan"},
                        {"float64_error", nullptr},
                        {"strict_pass", false},
                        {"elements", 10},
                        {"mismatches", 2},
                        {"first_mismatch", kFirst}};

json prepared_header() {
  const json argument = {{"name", "x"},  {"kind", "tensor"}, {"dtype", "float32"},
                         {"shape", {4}}, {"strides", {1}},   {"fd", 0},
                         {"offset", 0},  {"nbytes", 16}};
  const json one = {{"id", "a"},
                    {"seed", "0x1"},
                    {"fixed", true},
                    {"arguments", {argument}},
                    {"structural", json::array()},
                    {"inout", json::array()},
                    {"outputs", json::array()},
                    {"output_bytes", 4096},
                    {"layout", true}};
  return {{"type", "prepared"}, {"job", "j"}, {"cases", {one}}};
}

}  // namespace

TEST_CASE("a candidate's messages become structs") {
  Frame done = frame({{"type", "case"},
                      {"id", "a"},
                      {"kernels",
                       {{{"name", "k"},
                         {"target", "cuda:90"},
                         {"num_warps", 4},
                         {"registers", 32},
                         {"spill_bytes", 0},
                         {"shared_bytes", 0},
                         {"binary_bytes", 9},
                         {"grid", {1, 2, 3}},
                         {"launches", 1}}}}},
                     "plan");
  Result<CandidateMessage> message = parse_candidate(done);
  REQUIRE(message);
  const CaseDone& one = std::get<CaseDone>(*message);
  CHECK(one.plan == "plan");
  REQUIRE(one.kernels.size() == 1);
  CHECK(one.kernels[0].grid == std::vector<std::int64_t>{1, 2, 3});
  Frame interpreted =
      frame({{"type", "case"}, {"id", "a"}, {"reordered", true}, {"outputs", json::array()}});
  message = parse_candidate(interpreted);
  REQUIRE(message);
  CHECK(std::get<CaseDone>(*message).reordered);
  Frame error = frame({{"type", "error"},
                       {"stage", "run"},
                       {"kind", "value_error"},
                       {"exception", "ValueError"},
                       {"message", "m"},
                       {"line", 3},
                       {"code", "c"},
                       {"traceback", "t"},
                       {"case", nullptr}});
  message = parse_candidate(error);
  REQUIRE(message);
  CHECK(std::get<CandidateError>(*message).kind == ErrorKind::value_error);
  CHECK(std::get<CandidateError>(*message).diagnostic.line == 3);
  CHECK_FALSE(std::get<CandidateError>(*message).system_error);
  error.header["errno"] = 24;
  message = parse_candidate(error);
  REQUIRE(message);
  CHECK(std::get<CandidateError>(*message).system_error == 24);
}

TEST_CASE("a message that a candidate must not send is refused") {
  CHECK(candidate_refuses({{"type", "verdict"}, {"ok", true}}));
  CHECK(candidate_refuses({{"type", "case"}}));
  CHECK(candidate_refuses({{"type", "case"}, {"id", 3}}));
  CHECK(candidate_refuses({{"type", "case"},
                           {"id", "a"},
                           {"reordered", false},
                           {"outputs",
                            {{{"kind", "tensor"},
                              {"dtype", "float32"},
                              {"shape", {1}},
                              {"strides", {1}},
                              {"offset", -1},
                              {"nbytes", 4}}}}}));
  CHECK(candidate_refuses({{"type", "case"},
                           {"id", "a"},
                           {"reordered", false},
                           {"outputs",
                            {{{"kind", "tensor"},
                              {"dtype", "float32"},
                              {"shape", {1.5}},
                              {"strides", {1}},
                              {"offset", 0},
                              {"nbytes", 4}}}}}));
  CHECK(candidate_refuses({{"type", "case"},
                           {"id", "a"},
                           {"reordered", false},
                           {"outputs", json::array_t(1000, json::object())}}));
  CHECK(candidate_refuses({{"type", "case"}, {"id", "a"}, {"outputs", json::array()}}));
  const json error = {{"type", "error"},
                      {"stage", "run"},
                      {"kind", "value_error"},
                      {"exception", "E"},
                      {"message", "m"}};
  CHECK_FALSE(candidate_refuses(error));
  for (const char* kind :
       {"none", "wrong_result", "unattributed", "internal_error", "device_unhealthy", "gpu_fault",
        "cancelled", "reference_error", "nonsense"}) {
    json forged = error;
    forged["kind"] = kind;
    INFO(kind);
    CHECK(candidate_refuses(forged));
  }
  json outside = error;
  outside["kind"] = "canary_violation";  // the interpreter checks addresses
  CHECK_FALSE(candidate_refuses(outside));
  outside["kind"] = "timeout";  // only the supervisor checks the time
  CHECK_FALSE(candidate_refuses(outside));
  for (const char* stage : {"queue", "launch", "judge", "done"}) {
    json elsewhere = error;
    elsewhere["stage"] = stage;
    INFO(stage);
    CHECK(candidate_refuses(elsewhere));
  }
  CHECK(candidate_refuses(
      {{"type", "artifact"}, {"kind", "ptx"}, {"name", std::string(65'537, 'x')}}));
}

TEST_CASE("a comparison describes the wrong outputs, and the reason is made of the description") {
  const json region = {
      {"count", 2},
      {"share", 1},
      {"spans",
       json::array({{{"axis", 0}, {"first", 8}, {"last", 9}, {"run", 2}, {"period", 0}}})}};
  const json nothing = {{"count", 0}, {"share", 0}, {"spans", json::array()}};
  json described = kCompared;
  described["reason"] = "";
  described["wrong"] = json::array({{{"output", "y"},
                                     {"shape", json::array({10})},
                                     {"elements", 10},
                                     {"allowed", 0.01},
                                     {"scale", 1},
                                     {"relative", false},
                                     {"all", region},
                                     {"unstored", region},
                                     {"nan", nothing},
                                     {"memory", "nan"},
                                     {"constant", nullptr},
                                     {"ratio", nullptr},
                                     {"offset", nullptr},
                                     {"row_ratios", json::array()},
                                     {"worst", json::array({{{"index", json::array({8})},
                                                             {"expected", 1},
                                                             {"actual", "nan"},
                                                             {"inputs", {{"x", 2}}}}})}}});
  const Result<Compared> compared = parse_compared(frame(described));
  REQUIRE(compared);
  REQUIRE(compared->record.wrong.size() == 1);
  CHECK(compared->record.wrong[0].unstored.spans[0].first == 8);
  CHECK(compared->record.wrong[0].worst[0].inputs.at("x") == 2);
  CHECK(compared->record.reason ==
        "output y: 2 of 10 elements are off by more than 0.01: every element from 8 on; all of "
        "them have the NaN that memory had before (not stored)");
  for (const char* key : {"output", "all", "unstored", "nan", "worst"}) {
    json incomplete = described;
    incomplete["wrong"][0].erase(key);
    INFO(key);
    CHECK(refuses(parse_compared, incomplete));
  }
  described["wrong"][0]["all"]["spans"][0]["axis"] = 1;  // the output has no such axis
  CHECK(refuses(parse_compared, described));
}

TEST_CASE("an inconsistent comparison is refused, and numbers may be infinite or NaN") {
  const Result<Compared> compared = parse_compared(frame(kCompared));
  REQUIRE(compared);
  CHECK(compared->record.outcome == Outcome::fail);
  CHECK(std::isnan(*compared->record.max_abs_error));
  CHECK_FALSE(compared->record.float64_error);
  CHECK(std::isinf(compared->record.first_mismatch->actual));
  CHECK(compared->record.first_mismatch->unstored);
  CHECK(compared->record.wrong.empty());
  CHECK(compared->record.reason == "off");
  json contradictory = kCompared;
  contradictory["ok"] = true;
  CHECK(refuses(parse_compared, contradictory));
  for (const char* key : {"ok", "kind", "case", "elements", "mismatches"}) {
    json incomplete = kCompared;
    incomplete.erase(key);
    INFO(key);
    CHECK(refuses(parse_compared, incomplete));
  }
}

TEST_CASE("an inconsistent attribution is refused") {
  const json whose = {{"type", "attributed"},
                      {"job", "j"},
                      {"case", "c"},
                      {"ok", false},
                      {"reason", "torch did it"}};
  const Result<Attributed> attributed = parse_attributed(frame(whose));
  REQUIRE(attributed);
  CHECK_FALSE(attributed->ok);
  CHECK(attributed->reason == "torch did it");
  json contradictory = whose;
  contradictory["ok"] = true;
  CHECK(refuses(parse_attributed, contradictory));
  for (const char* key : {"ok", "reason"}) {
    json incomplete = whose;
    incomplete.erase(key);
    INFO(key);
    CHECK(refuses(parse_attributed, incomplete));
  }
  const json header = attribute_header("j", "c", {Argument{}}, {});
  CHECK(header["outputs"].size() == 1);
  CHECK(header["without"].empty());
  const json kept = attribute_kept_header("j", "c", {Argument{}});
  CHECK(kept["type"] == "attribute");
  CHECK(kept["on_device"] == true);
  CHECK(kept["without"].size() == 1);
  CHECK_FALSE(kept.contains("outputs"));
}

TEST_CASE("a prepared case that names a missing descriptor is refused") {
  const json header = prepared_header();
  CHECK(refuses(parse_prepared, header));
  Frame with = frame(header);
  with.fds.emplace_back(-1);
  const Result<Prepared> prepared = parse_prepared(with);
  REQUIRE(prepared);
  CHECK(prepared->cases[0].output_bytes == 4096);
  CHECK(prepared->cases[0].is_layout);
  CHECK_FALSE(prepared->device);
}

TEST_CASE("arguments are the same after they were sent to a candidate") {
  Argument tensor{.name = "x",
                  .is_tensor = true,
                  .dtype = "float16",
                  .shape = {2, 3},
                  .strides = {3, 1},
                  .fd = 1,
                  .offset = 256,
                  .nbytes = 12,
                  .scalar_type = "",
                  .value = {}};
  Argument scalar{.name = "eps",
                  .is_tensor = false,
                  .dtype = "",
                  .shape = {},
                  .strides = {},
                  .fd = {},
                  .offset = 0,
                  .nbytes = 0,
                  .scalar_type = "float",
                  .value = 1e-5};
  CandidateCase one;
  one.id = "a";
  one.arguments = {tensor, scalar};
  one.output_from = {"", "x"};
  one.output_fd = 2;
  one.output_bytes = 512;
  one.axes = {{"rows", 2}};
  one.output_tensors = {
      {.name = "y", .dtype = "float32", .from = "", .shape = {2, 3}, .nbytes = 24}};
  CandidateJob job;
  job.entry = "f";
  job.dialect = "triton";
  job.target = "cuda:90";
  job.language = "cuda";
  job.alternatives = true;
  CHECK(to_header(job)["language"] == "cuda");
  CHECK(to_header(job)["mode"] == "interpret");
  CHECK_FALSE(to_header(job).contains("adapter"));
  job.adapter = "def f(x): return g(x)";
  CHECK(to_header(job)["adapter"] == job.adapter);
  CHECK_FALSE(to_header(job).contains("cases"));
  job.import_wall_ms = 10;
  CHECK(to_header(job)["import_wall_ms"] == 10);
  CandidateBatch batch;
  batch.cases = {one};
  batch.last = false;
  const json header = to_header(batch);
  CHECK(header["last"] == false);
  CHECK_FALSE(header.contains("run_wall_ms"));
  batch.run_wall_ms = 20;
  CHECK(to_header(batch)["run_wall_ms"] == 20);
  CHECK(header["cases"][0]["axes"] == json({{"rows", 2}}));
  CHECK(header["cases"][0]["output_tensors"][0]["shape"] == json({2, 3}));
  CHECK(header["cases"][0]["arguments"][0]["strides"] == json({3, 1}));
  CHECK(header["cases"][0]["arguments"][1]["value"] == 1e-5);
  CHECK(header["cases"][0]["output_from"] == json({nullptr, "x"}));
  CHECK(header["cases"][0]["outputs"] == 2);
}

TEST_CASE("each way in which a conversation with a host candidate breaks has a value of its own") {
  using Broken = HostJudged::Broken;
  const std::map<std::string, Broken> kinds = {{"ended", Broken::ended},
                                               {"late", Broken::late},
                                               {"protocol", Broken::protocol},
                                               {"memory", Broken::memory},
                                               {"anything else", Broken::protocol}};
  for (const auto& [word, kind] : kinds) {
    const Frame frame{{{"type", "host_judged"},
                       {"job", "j"},
                       {"case", "c"},
                       {"broken", word},
                       {"message", "why"}},
                      {},
                      {}};
    const Result<HostJudged> judged = parse_host_judged(frame);
    REQUIRE(judged);
    CHECK(judged->broken == kind);
    CHECK(judged->message == "why");
  }
}

TEST_CASE("the requests around the time of a job that has the GPU alone") {
  CHECK(
      references_header("j", "c", true, 3) ==
      json({{"type", "references"}, {"job", "j"}, {"case", "c"}, {"timed", true}, {"rounds", 3}}));
  CHECK(compare_aside_header("j", "c") ==
        json({{"type", "compare_aside"}, {"job", "j"}, {"case", "c"}}));
  const json aside = set_aside_header("j", "c", {{.name = "y", .dtype = "float32", .shape = {2}}});
  CHECK(aside.at("type") == "set_aside");
  CHECK(aside.at("outputs").at(0).at("shape") == json({2}));
  json answer = {{"type", "was_set_aside"}, {"job", "j"}, {"case", "c"}, {"kept", false}};
  CHECK_FALSE(*parse_was_set_aside(frame(answer)));
  answer["kept"] = true;
  CHECK(*parse_was_set_aside(frame(answer)));
  answer["kept"] = 1;
  CHECK_FALSE(parse_was_set_aside(frame(answer)));
  CHECK_FALSE(parse_was_set_aside(frame({{"type", "compared"}})));
}

TEST_CASE("the time of a compiled reference has a number or a reason, and not both") {
  const json timed = {{"type", "timed_compiled"}, {"case", "large"}, {"ns", 51200.5}};
  CHECK(*parse_timed_compiled(frame(timed)) == CompiledTime{"large", 51200.5, ""});
  json refused = {{"type", "timed_compiled"}, {"case", "large"}, {"unsupported", "no\nmore"}};
  CHECK(*parse_timed_compiled(frame(refused)) == CompiledTime{"large", {}, "no"});
  refused["ns"] = 1;
  CHECK(refuses(parse_timed_compiled, refused));
  CHECK(refuses(parse_timed_compiled, {{"type", "timed_compiled"}, {"case", "large"}}));
  CHECK(refuses(parse_timed_compiled, {{"type", "timed_reference"}, {"case", "a"}, {"ns", 1}}));
  const json header = time_compiled_header(
      "/ops/relu",
      {.id = "large", .axes = {{"n", 4}}, .dtype = "float32", .distribution = "normal"}, false);
  CHECK(header["case"]["id"] == "large");
  CHECK(header["eager"] == false);
  CHECK(header["operator_dir"] == "/ops/relu");
}
