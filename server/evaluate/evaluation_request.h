// Reads the body of POST /v1/evaluate. Each member is checked on its own.
//
//   const EvaluationContext context = context_of(services);
//   const tl::expected<EvaluateRequest, Problem> request = read_request(context, body);
//   for (const Wanted& wanted : request->members)
//     if (wanted.problem) show(wanted.problem->detail);
//
// Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "server/evaluate/policies.h"
#include "server/evaluate/problem.h"
#include "tools/model/services.h"

namespace assay::server {

/// What decides which evaluations are valid, and what their jobs are.
struct EvaluationContext {
  const operators::Catalog& catalog;
  std::vector<std::string> devices;  // the names that `device` may have
  sandbox::Limits job_limits = {};
  const Clock& clock = system_clock();
};
EvaluationContext context_of(const tools::Services& services);

/// One evaluation that a client wants. If `problem` has a value, the member is refused, and the
/// other members have no meaning.
struct Wanted {
  std::optional<Problem> problem = {};
  sandbox::Job job = {};
  std::string run = {}, device = {}, group = {};
  std::string key = {};     // the client's, or the digest
  std::string digest = {};  // of everything but the key, the deadline and the priority
  /// A hash of the client's key and the digest, if the evaluation is charged to a run. The store
  /// keeps it, so that a repeated request is charged once even after a restart. Empty: the client
  /// named no key.
  std::string call_id = {};
  std::optional<std::int64_t> deadline_unix_ms = {};
};

struct EvaluateRequest {
  std::vector<Wanted> members;
  std::int64_t wait_ms = 0;
  RewardPolicies policies;
};

tl::expected<EvaluateRequest, Problem> read_request(const EvaluationContext& context,
                                                    std::string_view body);

/// Reads the policies of `rewards`: names, or objects with `name` and `expression`.
tl::expected<RewardPolicies, Problem> read_policies(const nlohmann::json& rewards);

/// Parses a JSON document and checks it against a schema that `schema` makes.
tl::expected<nlohmann::json, Problem> read_document(std::string_view body,
                                                    const nlohmann::json& schema);

}  // namespace assay::server
