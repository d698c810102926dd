// Makes the JSON schemas of the HTTP interface /v1. The server checks requests against the same
// schemas that its OpenAPI document has (openapi.h). Pure functions, thread-safe.
//
//   const Result<mcp::Schema> schema = mcp::Schema::compile(evaluation_schema());
//   const std::vector<std::string> problems = schema->check(member);
#pragma once

#include <cstdint>

#include "base/json.h"

namespace assay::server {

inline constexpr std::int64_t kMostEvaluations = 256;  // of one request
inline constexpr std::int64_t kMostWaitMs = 60'000;
inline constexpr std::int64_t kMostNameChars = 200;
inline constexpr std::int64_t kMostSuiteChars = 16'384;
inline constexpr std::int64_t kMostSourceChars = 4 << 20;

/// One member of `evaluations` in the body of POST /v1/evaluate.
nlohmann::json evaluation_schema();
/// The body of POST /v1/evaluate. With `strict_members` false, the members of `evaluations` are
/// not described: the server checks each member on its own, so that a broken member does not
/// disturb the others.
nlohmann::json evaluate_schema(bool strict_members);
/// The body of POST /v1/runs.
nlohmann::json run_request_schema();

/// The state and the result of one evaluation.
nlohmann::json result_schema();
/// The answers of POST /v1/evaluate and of GET and DELETE /v1/evaluations.
nlohmann::json results_schema();
nlohmann::json problem_schema();
nlohmann::json run_schema();
nlohmann::json policies_schema();
nlohmann::json operators_schema();

}  // namespace assay::server
