#include "server/evaluate/openapi.h"

#include <string>
#include <utility>
#include <vector>

#include "server/evaluate/api_schema.h"
#include "server/evaluate/expression.h"

namespace assay::server {
namespace {

using nlohmann::json;

/// The version of the interface. It changes when a client of an older version would break.
constexpr const char* kApiVersion = "1.0.0";

json ref(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

json content(const std::string& type, json schema) {
  return {{type, {{"schema", std::move(schema)}}}};
}

json answer(const std::string& description, const std::string& schema) {
  return {{"description", description}, {"content", content("application/json", ref(schema))}};
}

json problem(const std::string& description) {
  return {{"description", description},
          {"content", content("application/problem+json", ref("Problem"))}};
}

/// Adds the problems that every operation can answer with.
json responses(json own) {
  own["400"] = problem("The request is not valid");
  own["401"] = problem("A valid token is needed");
  own["403"] = problem("A rule or the token's scope forbids this");
  own["404"] = problem("There is nothing of this name or id");
  own["411"] = problem("The length of the body is missing");
  own["414"] = {{"description", "The query is too long. The body is the error of /mcp"}};
  own["413"] = problem("The body is too large");
  own["415"] = problem("The body must be application/json without compression");
  own["429"] = problem("A limit is reached; Retry-After says when to try again");
  own["503"] = problem("The server cannot do this now");
  return own;
}

json parameter(const std::string& name, const std::string& description, json schema,
               bool required = false) {
  return {{"name", name},
          {"in", "query"},
          {"required", required},
          {"description", description},
          {"schema", std::move(schema)}};
}

json ids_parameter() {
  return parameter(
      "ids", "The ids, separated by commas",
      {{"type", "string"}, {"minLength", 1}, {"pattern", "^job_[0-9a-z]{26}(,job_[0-9a-z]{26})*$"}},
      true);
}

json wait_parameter() {
  return parameter("wait_ms", "How long the answer may wait for the verdicts, in milliseconds",
                   {{"type", "integer"}, {"minimum", 0}, {"maximum", kMostWaitMs}});
}

json rewards_parameters() {
  return json::array(
      {ids_parameter(), wait_parameter(),
       parameter("rewards", "The names of policies, separated by commas", {{"type", "string"}}),
       parameter("expression", "A formula; its reward is named expression",
                 {{"type", "string"}, {"maxLength", ExpressionLimits().max_bytes}})});
}

json body_of(const std::string& schema) {
  return {{"required", true}, {"content", content("application/json", ref(schema))}};
}

json evaluations_path() {
  json results = answer("The states and results", "Results");
  json streamed = results;
  streamed["content"]["text/event-stream"] = {{"schema", {{"type", "string"}}}};
  return {{"get",
           {{"operationId", "getEvaluations"},
            {"summary",
             "Returns evaluations. With Accept: text/event-stream, sends each result when it "
             "is there, and then an event of the type end"},
            {"parameters", rewards_parameters()},
            {"responses", responses({{"200", std::move(streamed)}})}}},
          {"delete",
           {{"operationId", "cancelEvaluations"},
            {"summary", "Cancels evaluations that have not ended"},
            {"parameters", rewards_parameters()},
            {"responses", responses({{"200", std::move(results)}})}}}};
}

json evaluate_path() {
  json own = {{"200", answer("Every evaluation has ended", "Results")},
              {"202", answer("Some evaluations have not ended", "Results")},
              {"409", problem("The idempotency key belongs to another evaluation")}};
  return {{"post",
           {{"operationId", "evaluate"},
            {"summary",
             "Evaluates one to 256 sources. If every member is refused, the answer is "
             "the problem of the first one"},
            {"requestBody", body_of("EvaluateRequest")},
            {"responses", responses(std::move(own))}}}};
}

json simple_get(const std::string& id, const std::string& summary, const std::string& schema,
                json parameters = json::array()) {
  return {{"get",
           {{"operationId", id},
            {"summary", summary},
            {"parameters", std::move(parameters)},
            {"responses", responses({{"200", answer(summary, schema)}})}}}};
}

}  // namespace

json openapi_document() {
  json evaluate = evaluate_schema(true);
  evaluate["properties"]["evaluations"]["items"] = ref("Evaluation");
  json result = result_schema();
  result["properties"]["problem"] = ref("Problem");
  json results = results_schema();
  results["properties"]["evaluations"]["items"] = ref("Result");
  json run_start = {{"post",
                     {{"operationId", "startRun"},
                      {"summary", "Starts a run, as the tool start_run does"},
                      {"requestBody", body_of("RunRequest")},
                      {"responses", responses({{"201", answer("The run", "Run")}})}}}};
  json paths = {
      {"/v1/evaluate", evaluate_path()},
      {"/v1/evaluations", evaluations_path()},
      {"/v1/runs", std::move(run_start)},
      {"/v1/operators",
       simple_get(
           "getOperators", "The operators", "Operators",
           json::array(
               {parameter("names", "Operators, separated by commas", {{"type", "string"}}),
                parameter("prompt", "Whether to add the specifications",
                          {{"type", "string"}, {"enum", json::array({"true", "false"})}})}))},
      {"/v1/policies", simple_get("getPolicies", "The reward policies", "Policies")},
      {"/v1/openapi.json",
       {{"get",
         {{"operationId", "getOpenapi"},
          {"summary", "This document"},
          {"responses",
           responses({{"200",
                       {{"description", "This document"},
                        {"content", content("application/json", {{"type", "object"}})}}}})}}}}}};
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "Assay"},
            {"version", kApiVersion},
            {"description",
             "Evaluations of GPU kernels for programs and trainers. Errors are "
             "problems of RFC 9457."},
            {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
          {"paths", std::move(paths)},
          {"security", json::array({{{"token", json::array()}}, json::object()})},
          {"components",
           {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
            {"schemas",
             {{"Evaluation", evaluation_schema()},
              {"EvaluateRequest", std::move(evaluate)},
              {"Result", std::move(result)},
              {"Results", std::move(results)},
              {"Problem", problem_schema()},
              {"RunRequest", run_request_schema()},
              {"Run", run_schema()},
              {"Policies", policies_schema()},
              {"Operators", operators_schema()}}}}}};
}

}  // namespace assay::server
