// ToolSession makes the tool calls of one attempt and writes the calls to the transcript. A call
// that an interrupted part of the attempt has already made is answered from the transcript.
//
//   ToolSession tools(client, transcript);
//   Result<mcp::ToolResult> answer = tools.call_to_end("run_tests", arguments, 60'000);
//
// An object belongs to one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "reference_agents/core/transcript.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

class ToolSession {
 public:
  /// The clock must outlive the object.
  ToolSession(mcp::Client& client, Transcript& transcript, const Clock& clock = system_clock())
      : client_(client), transcript_(transcript), clock_(clock) {}

  /// Makes one call. If the server refuses the call, the ToolResult has `is_error`. An Error means
  /// that the connection or the transcript is broken, or that the server failed through no fault of
  /// the caller.
  Result<mcp::ToolResult> call(const std::string& tool, const nlohmann::json& arguments);
  /// Makes one call, then calls the tool `job` until the job is over. Errors: unavailable if that
  /// takes longer than `follow_ms`.
  Result<mcp::ToolResult> call_to_end(const std::string& tool, const nlohmann::json& arguments,
                                      std::int64_t follow_ms);

  /// Reads a resource. The transcript shows the read as a call of the tool "resources/read". The
  /// result's `is_error` is true if the server refuses.
  Result<mcp::ToolResult> read(const std::string& uri);

  std::int64_t calls() const { return calls_; }

 private:
  Status record(const std::string& tool, const mcp::ToolResult& result);

  mcp::Client& client_;
  Transcript& transcript_;
  const Clock& clock_;
  std::int64_t calls_ = 0;
};

}  // namespace assay::agents
