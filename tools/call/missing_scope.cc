#include "tools/call/missing_scope.h"

#include <optional>

#include "tools/model/principal.h"

namespace assay::tools {
namespace {

std::string text_argument(const nlohmann::json& arguments, const char* name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the run that a cancellation of a job would change, or "".
std::string run_of_cancelled_job(const Services& services, const nlohmann::json& arguments,
                                 const Principal& principal) {
  const std::string job = text_argument(arguments, "job");
  const auto cancel = arguments.find("cancel");
  if (job.empty() || cancel == arguments.end() || *cancel != true) return "";
  const auto status = services.jobs.wait(principal, job, 0, nullptr);
  const bool active =
      status && (status->state == JobState::queued || status->state == JobState::running);
  return active ? status->run : "";
}

}  // namespace

std::string missing_scope(const Services& services, const nlohmann::json& arguments,
                          const mcp::Caller& caller) {
  const Principal principal{.name = caller.name, .may_score = caller.allows(kScopeScore)};
  if (principal.may_score) return "";
  std::optional<Track> track = track_from(text_argument(arguments, "track"));
  std::string run = text_argument(arguments, "run");
  if (run.empty()) run = run_of_cancelled_job(services, arguments, principal);
  if (!track && !run.empty()) {
    if (const auto found = services.runs.find(principal, run)) track = found->request.track;
  }
  return track && !check_scope(principal, *track) ? kScopeScore : "";
}

}  // namespace assay::tools
