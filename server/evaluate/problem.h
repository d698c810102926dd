// Problem is an error of the HTTP interface in the form of RFC 9457. A client decides on `type`,
// which is one of problem_types(), and shows `title` and `detail` to a person.
//
//   const Problem problem = problem_of(error);  // a not_found
//   return reply_of(problem);  // status 404, Content-Type: application/problem+json
//
// Plain value; the functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/http/http_response.h"

namespace assay::server {

enum class ProblemType {
  invalid_request,  // the body, a member or a parameter violates the schema
  unknown_name,     // there is no operator, suite, device or policy of this name
  policy_invalid,   // an expression does not parse
  deadline_passed,  // the deadline is not in the future
  key_reused,       // the idempotency key belongs to another evaluation
  not_found,        // there is no such evaluation or run
  forbidden,        // a rule of the run, or the token's scope, forbids the evaluation
  unauthorized,     // no valid token
  too_many,         // a limit is reached; the same request can succeed later
  too_large,        // the request or a source is too large
  method,           // the path does not have this method
  not_acceptable,   // the headers ask for another form
  unavailable,      // the server or the device cannot be used now
  internal,         // a defect of Assay
};

struct Problem {
  ProblemType type = ProblemType::internal;
  std::string detail = {};
  std::optional<std::int64_t> retry_after_ms = {};
};

/// Returns the URI of the type: "urn:assay:problem:key-reused".
std::string uri_of(ProblemType type);
/// Returns a fixed sentence about the type.
std::string title_of(ProblemType type);
int status_of(ProblemType type);
const std::vector<ProblemType>& problem_types();

/// Returns the problem for an error of a service.
Problem problem_of(const Error& error);
/// Returns the problem as the error of a tl::expected.
tl::unexpected<Problem> refuse(ProblemType type, std::string detail);
tl::unexpected<Problem> refuse(const Error& error);
nlohmann::json json_of(const Problem& problem);
/// Returns the reply that has this problem. `more` contains further members of the document.
mcp::Reply reply_of(const Problem& problem, const nlohmann::json& more = {});
/// Returns the reply for a refusal of the HTTP server, which is a JSON-RPC error.
mcp::Reply problem_reply(const mcp::Reply& refusal);

}  // namespace assay::server
