// ToolSession: tool calls of one attempt, written to the transcript, with `job` handles followed to
// their end. What an earlier, unfinished part of the attempt already did is taken from the
// transcript instead. One per thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "reference_agents/core/transcript.h"
#include "server/mcp/client/client.h"

namespace assay::agents {

class ToolSession {
 public:
  ToolSession(mcp::Client& client, Transcript& transcript)
      : client_(client), transcript_(transcript) {}

  /// One call. An Error is a broken conversation or transcript; a refusal is a ToolResult with
  /// is_error.
  Result<mcp::ToolResult> call(const std::string& tool, const nlohmann::json& arguments);
  /// The same, then `job` until the work is over; unavailable when that takes longer than
  /// `follow_ms`.
  Result<mcp::ToolResult> call_to_end(const std::string& tool, const nlohmann::json& arguments,
                                      std::int64_t follow_ms);

  /// A resource's text, written to the transcript like a call of the tool "resources/read";
  /// is_error when the server refuses it.
  Result<mcp::ToolResult> read(const std::string& uri);

  std::int64_t calls() const { return calls_; }

 private:
  Status record(const std::string& tool, const mcp::ToolResult& result);

  mcp::Client& client_;
  Transcript& transcript_;
  std::int64_t calls_ = 0;
};

}  // namespace assay::agents
