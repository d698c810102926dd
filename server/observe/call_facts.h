// CallFacts are the parts of an observed MCP message that logs, metrics and traces may show. They
// never contain an argument of a client, except handles, and nothing of an answer but handles and
// the name of an error.
//
//   const CallFacts facts = facts_of(observed);
//   log::info("call", {{"tool", facts.tool}, {"run", facts.run}, {"error", facts.error}});
//
// Pure functions, thread-safe. The facts must not outlive the message.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/mcp/core/call_observer.h"

namespace assay::server {

struct CallFacts {
  std::string_view method;  // "other" for a method that this server does not have
  std::string_view tool;    // empty: no tool, or an unknown one
  std::string run, job;     // handles that the client sent or got; empty: none
  /// The name of a JSON-RPC error, of an error of the tools (base/result.h), or of the error of a
  /// verdict as the answer shows it. Empty: no error.
  std::string error;
};
CallFacts facts_of(const mcp::ObservedCall& observed);

/// Returns the class of a principal for metrics, which must not name each principal: "score" or
/// "practice" for a token with or without the scope `score`, "none" for a client without a token.
std::string_view class_of(const std::shared_ptr<const mcp::Caller>& caller);

}  // namespace assay::server
