// EvaluateApi answers the HTTP interface /v1 of a server: evaluations for programs and trainers, in
// the same process and with the same jobs, tokens, limits and store as MCP.
// docs/reference/evaluate.md describes it.
//
//   InputGroups groups(clock);
//   EvaluateApi api(services, groups);
//   options.application = &api;  // of HttpOptions
//
// Thread-safe. The services and the groups must outlive the object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/json.h"
#include "server/evaluate/evaluations.h"
#include "server/evaluate/input_groups.h"
#include "server/mcp/http/http_application.h"
#include "tools/model/services.h"

namespace assay::server {

class EvaluateApi final : public mcp::HttpApplication {
 public:
  /// `services.jobs` must not be WatchedJobs (evaluations.h).
  EvaluateApi(const tools::Services& services, InputGroups& groups)
      : services_(services), evaluations_(services_, groups) {}

  bool owns(std::string_view path) const override;
  mcp::Reply refused(const mcp::Reply& refusal) const override;
  std::optional<mcp::Reply> refusal_of_head(const mcp::HttpRequest& request) const override;
  mcp::ApplicationAnswer answer(mcp::ApplicationRequest request) override;

 private:
  using Answer = tl::expected<mcp::Reply, Problem>;
  /// One member of a batch: an id, or the problem with which it was refused.
  struct Member {
    std::string id;
    bool duplicate = false;
    std::optional<Problem> problem;
  };
  struct Asked {
    std::vector<Member> members;
    RewardPolicies policies;
    std::int64_t wait_ms = 0;
  };

  Answer dispatch(mcp::ApplicationRequest request, mcp::WriteEvents& stream);
  Answer evaluate(mcp::ApplicationRequest request);
  /// Accepts the evaluations of a request. The text of the body is freed on return, because the
  /// wait for the verdicts may be long.
  tl::expected<Asked, Problem> accept(const tools::Principal& principal,
                                      mcp::ApplicationRequest request);
  Answer evaluations(const mcp::ApplicationRequest& request, mcp::WriteEvents& stream);
  Answer start_run(const mcp::ApplicationRequest& request);
  Answer operators(const mcp::ApplicationRequest& request);
  tl::expected<Asked, Problem> asked_by(const mcp::HttpRequest& request) const;

  /// Returns the answer to a batch, after waiting for its verdicts.
  Answer results(const tools::Principal& principal, const Asked& asked, const std::stop_token& stop,
                 bool new_ones);
  nlohmann::json result(const tools::Principal& principal, const Asked& asked, std::size_t index,
                        std::int64_t wait_ms, const std::stop_token& stop);
  void send_results(const tools::Principal& principal, const Asked& asked,
                    const mcp::SendEvent& send, const std::stop_token& end);

  const tools::Services services_;
  Evaluations evaluations_;
};

}  // namespace assay::server
