#include "reference_agents/core/tool_session.h"

#include <optional>
#include <utility>

#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

using nlohmann::json;

constexpr std::int64_t kJobWaitS = 20;
constexpr const char* kReadResource = "resources/read";

/// Returns the message of an error that is the server's fault, or "" for any other result. Such an
/// error is not an answer to the call, so an agent must not react to it.
std::string servers_failure(const mcp::ToolResult& result) {
  if (!result.is_error) return "";
  const std::string code = string_field(result.structured, "error", "code");
  return code == "io" || code == "unavailable" || code == "corrupt" || code == "internal"
             ? result.text.substr(0, result.text.find('\n'))
             : "";
}

/// Returns the handle of the job if the answer says that the job still runs or waits. Otherwise
/// returns "".
std::string pending_job(const mcp::ToolResult& result) {
  for (const char* key : {"state", "status"}) {
    const std::string state = string_field(result.structured, key);
    if (state == "running" || state == "queued") return string_field(result.structured, "job");
  }
  return "";
}

}  // namespace

Result<mcp::ToolResult> ToolSession::call(const std::string& tool, const json& arguments) {
  ++calls_;
  Result<std::optional<mcp::ToolResult>> earlier = transcript_.replay_tool(tool, arguments);
  if (!earlier) return fail(earlier.error());
  if (*earlier) return std::move(**earlier);
  if (Status written = transcript_.tool_call(tool, arguments); !written)
    return fail(written.error());
  Result<mcp::ToolResult> result = client_.call_tool(tool, arguments);
  if (!result) {
    // An error of note() is ignored, because the error of the call is more important.
    (void)transcript_.note(tool + ": " + result.error().message);
    return result;
  }
  if (const std::string failure = servers_failure(*result); !failure.empty()) {
    // The transcript gets a note but no result, so a later part of the attempt makes this call
    // again.
    (void)transcript_.note(tool + ": " + failure);
    return fail(ErrorCode::unavailable, "the server failed at " + tool + ": " + failure);
  }
  if (Status written = record(tool, *result); !written) return fail(written.error());
  return result;
}

Status ToolSession::record(const std::string& tool, const mcp::ToolResult& result) {
  return transcript_.tool_result(tool, result.is_error, result.text, result.structured);
}

Result<mcp::ToolResult> ToolSession::read(const std::string& uri) {
  ++calls_;
  const json arguments = {{"uri", uri}};
  Result<std::optional<mcp::ToolResult>> earlier =
      transcript_.replay_tool(kReadResource, arguments);
  if (!earlier) return fail(earlier.error());
  if (*earlier) return std::move(**earlier);
  if (Status written = transcript_.tool_call(kReadResource, arguments); !written)
    return fail(written.error());
  const Result<std::string> text = client_.read_resource(uri);
  const bool refused = !text && (text.error().code == ErrorCode::not_found ||
                                 text.error().code == ErrorCode::invalid_argument);
  if (!text && !refused) {
    // An error of note() is ignored, because the error of the read is more important.
    (void)transcript_.note(std::string(kReadResource) + ": " + text.error().message);
    return fail(text.error());
  }
  mcp::ToolResult result;
  result.is_error = refused;
  result.text = refused ? text.error().message : *text;
  result.structured = json::object();
  if (Status written = record(kReadResource, result); !written) return fail(written.error());
  return result;
}

Result<mcp::ToolResult> ToolSession::call_to_end(const std::string& tool, const json& arguments,
                                                 std::int64_t follow_ms) {
  const std::int64_t until_ns = clock_.monotonic_ns() + follow_ms * kNsPerMs;
  Result<mcp::ToolResult> result = call(tool, arguments);
  while (result) {
    const std::string job = pending_job(*result);
    if (job.empty()) return result;
    if (clock_.monotonic_ns() >= until_ns) {
      return fail(ErrorCode::unavailable, tool + ": job " + job + " was still running after " +
                                              std::to_string(follow_ms / 1000) + " s");
    }
    result = call("job", {{"job", job}, {"wait_s", kJobWaitS}});
  }
  return result;
}

}  // namespace assay::agents
