#include "server/evaluate/api_schema.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/job/job.h"
#include "server/evaluate/expression.h"
#include "server/evaluate/policies.h"
#include "server/evaluate/problem.h"
#include "tools/model/tracks.h"

namespace assay::server {
namespace {

using nlohmann::json;

json text(const std::string& description, std::int64_t most = kMostNameChars,
          std::int64_t least = 1) {
  return {
      {"type", "string"}, {"minLength", least}, {"maxLength", most}, {"description", description}};
}

json choice(const std::string& description, json values) {
  return {{"type", "string"}, {"enum", std::move(values)}, {"description", description}};
}

json plain(const char* type, const std::string& description) {
  return {{"type", type}, {"description", description}};
}

json nullable(const char* type, const std::string& description) {
  return {{"type", json::array({type, "null"})}, {"description", description}};
}

json object(json properties, const std::vector<std::string>& required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", required},
          {"additionalProperties", false}};
}

json wait_property() {
  return {{"type", "integer"},
          {"minimum", 0},
          {"maximum", kMostWaitMs},
          {"default", 0},
          {"description", "How long the answer may wait for the verdicts, in milliseconds"}};
}

json rewards_property() {
  const json own = object({{"name", text("The name of the reward in the answer")},
                           {"expression", text("A formula over the variables of GET /v1/policies",
                                               std::int64_t{ExpressionLimits().max_bytes})}},
                          {"name", "expression"});
  return {
      {"type", "array"},
      {"maxItems", kMostPolicies},
      {"items", {{"anyOf", json::array({text("The name of a policy of GET /v1/policies"), own})}}},
      {"description", "The policies whose rewards the results get"}};
}

template <class Range>
json names_of(const Range& range) {
  json names = json::array();
  for (const auto& one : range) names.push_back(sandbox::to_string(one));
  return names;
}

json modes() {
  using sandbox::JobKind;
  return names_of(std::array{JobKind::compile, JobKind::test, JobKind::profile, JobKind::grade});
}

json track_values() {
  json names = json::array();
  for (const tools::TrackRules& rules : tools::kTracks) names.push_back(rules.name);
  return names;
}

}  // namespace

json evaluation_schema() {
  json languages = json::array();
  for (const auto& language : sandbox::kLanguages) languages.push_back(language);
  return object(
      {{"suite",
        text("The name of the server's suite, or a split. The evaluation is refused if the "
             "operator is not in it")},
       {"operator", text("The operator, for example vector_add")},
       {"source", text("The source. Give either source or completion", kMostSourceChars)},
       {"completion", text("A whole reply of a model. The last Python block that defines the entry "
                           "function is the source. A completion without a usable source is "
                           "judged like an empty source",
                           kMostSourceChars, 0)},
       {"language", choice("The language of the source. Default: python", std::move(languages))},
       {"mode", choice("What is done. Default: test. A grade needs a run", modes())},
       {"device", text("A device, or a class of devices such as cuda. Default: the first device")},
       {"deadline", text("A time in the form of RFC 3339. An evaluation that still waits for a "
                         "device then is cancelled; one that has begun goes on.",
                         64)},
       {"priority", choice("The order among your own waiting evaluations. Default: normal",
                           json::array({"low", "normal", "high"}))},
       {"idempotency_key", text("The same key and the same evaluation give the same id. Default: "
                                "the digest of the evaluation")},
       {"group", text("All evaluations of a group get the same inputs")},
       {"run", text("The run that is charged, of POST /v1/runs or start_run")}},
      {"operator"});
}

json evaluate_schema(bool strict_members) {
  json members = {{"type", "array"},
                  {"minItems", 1},
                  {"maxItems", kMostEvaluations},
                  {"description", "The evaluations"}};
  if (strict_members) members["items"] = evaluation_schema();
  return object({{"evaluations", std::move(members)},
                 {"wait_ms", wait_property()},
                 {"rewards", rewards_property()}},
                {"evaluations"});
}

json run_request_schema() {
  return object(
      {{"agent", text("The name of the agent or of the trainer")},
       {"model", text("The name of the model")},
       {"track", choice("The rules of the run. Default: practice", track_values())},
       {"suite", text("all, a split, or a comma-separated list of operators. Default: all",
                      kMostSuiteChars)},
       {"idempotency_key", text("The same key gives the same run, until the run is over. Default: "
                                "each request starts a run")}},
      {"agent", "model"});
}

json problem_schema() {
  json types = json::array();
  for (const ProblemType type : problem_types()) types.push_back(uri_of(type));
  return {{"type", "object"},
          {"properties",
           {{"type", choice("The type of the problem", std::move(types))},
            {"title", plain("string", "A sentence about the type")},
            {"status", plain("integer", "The HTTP status")},
            {"detail", plain("string", "What is wrong, and what would be valid")},
            {"retry_after_ms", plain("integer", "The pause before the next attempt")},
            {"evaluations", plain("array", "The refused members, if all were refused")}}},
          {"required", json::array({"type", "title", "status", "detail"})}};
}

json result_schema() {
  json states = json::array({"queued", "running", "finished", "cancelled", "aborted", "refused"});
  return {
      {"type", "object"},
      {"properties",
       {{"index", plain("integer", "The position in the request")},
        {"id", plain("string", "The handle of the job, which the MCP tool `job` takes too")},
        {"state", choice("refused: see problem", std::move(states))},
        {"operator", plain("string", "The operator")},
        {"mode", choice("What is done", modes())},
        {"key", plain("string", "The idempotency key")},
        {"duplicate", plain("boolean", "True if an equal evaluation was accepted before")},
        {"group", plain("string", "The group")},
        {"inputs", plain("string", "Two results with equal values had the same inputs")},
        {"queue_position", plain("integer", "The position in the queue, from 1")},
        {"outcome", choice("The outcome of the verdict", json::array({"pass", "fail", "error"}))},
        {"error_kind", plain("string", "The kind of error, or none")},
        {"stage", plain("string", "The stage in which the job is, or at which it ended")},
        {"summary", plain("string", "The first line of the verdict")},
        {"feedback", plain("string", "The verdict as the tools show it to an agent")},
        {"compiled", plain("boolean", "True if the source ran and its kernels compiled")},
        {"correct", plain("boolean", "True if the outcome is pass")},
        {"cases", plain("integer",
                        "Cases that were to be judged; a grade counts the hidden cases "
                        "as one")},
        {"cases_passed", plain("integer", "Cases whose outputs are right")},
        {"perf", nullable("number", "The baseline's time divided by the submission's")},
        {"pytorch", nullable("number", "PyTorch's time divided by the submission's")},
        {"sol", nullable("number", "The physical minimum divided by the submission's time")},
        {"own_share", nullable("number", "The share of the submission's kernels in its GPU time")},
        {"tier", plain("string", "How far the verdict can be trusted")},
        {"device", plain("string", "The device")},
        {"suspect", plain("boolean",
                          "True if the result looks like an attempt to score without "
                          "the work")},
        {"suspicions", plain("array", "The error kinds and hints behind suspect")},
        {"infra", plain("boolean", "True if the fault is Assay's: mask the sample")},
        {"masked", plain("boolean",
                         "True if the result says nothing about the submission, so its "
                         "rewards are null")},
        {"deadline_passed", plain("boolean", "True if the deadline ended the evaluation")},
        {"elapsed_ms", plain("integer", "The time since the evaluation was accepted")},
        {"rewards",
         {{"type", "object"},
          {"additionalProperties", {{"type", json::array({"number", "null"})}}},
          {"description", "The reward of each policy; null: mask the sample"}}},
        {"problem", problem_schema()}}},
      {"required", json::array({"index", "state"})}};
}

json results_schema() {
  return {{"type", "object"},
          {"properties",
           {{"evaluations", {{"type", "array"}, {"items", result_schema()}}},
            {"pending", plain("integer", "Evaluations that have no verdict yet")},
            {"refused", plain("integer", "Members that were refused")}}},
          {"required", json::array({"evaluations", "pending", "refused"})}};
}

json run_schema() {
  return {{"type", "object"},
          {"properties",
           {{"run", plain("string", "The handle of the run")},
            {"track", choice("The rules", track_values())},
            {"operators", {{"type", "array"}, {"items", {{"type", "string"}}}}},
            {"expires", plain("string", "The end of the run, in the form of RFC 3339")}}},
          {"required", json::array({"run", "track", "operators", "expires"})}};
}

json policies_schema() {
  return {{"type", "object"},
          {"properties",
           {{"policies",
             {{"type", "array"},
              {"items",
               {{"type", "object"},
                {"properties",
                 {{"name", plain("string", "The name")},
                  {"expression", plain("string", "The formula")},
                  {"source", plain("string", "Where the formula is from")},
                  {"note", plain("string", "When to use it")}}},
                {"required", json::array({"name", "expression", "source", "note"})}}}}},
            {"variables", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}},
            {"functions", plain("string", "The functions of formulas")}}},
          {"required", json::array({"policies", "variables", "functions"})}};
}

json operators_schema() {
  return {{"type", "object"},
          {"properties",
           {{"suite", plain("string", "The name of the suite")},
            {"operators",
             {{"type", "array"},
              {"items",
               {{"type", "object"},
                {"properties",
                 {{"operator", plain("string", "The name")},
                  {"split", plain("string", "The split")},
                  {"family", plain("string", "The family")},
                  {"dialect", plain("string", "The dialect of the kernels")},
                  {"difficulty", plain("integer", "1 to 3")},
                  {"entry", plain("string", "The entry function")},
                  {"summary", plain("string", "One sentence")},
                  {"prompt", plain("string", "The specification, as fetch_spec shows it")}}},
                {"required", json::array({"operator", "split", "family", "dialect", "difficulty",
                                          "entry", "summary"})}}}}}}},
          {"required", json::array({"suite", "operators"})}};
}

}  // namespace assay::server
