#include "server/observe/call_facts.h"

#include <array>

#include "base/handle.h"
#include "base/json.h"
#include "base/result.h"
#include "sandbox/job/job.h"
#include "server/mcp/protocol/protocol.h"
#include "tools/model/principal.h"

namespace assay::server {
namespace {

using nlohmann::json;

/// Returns the object member of `value` with this name, or null.
const json* object_in(const json* value, const char* name) {
  if (value == nullptr) return nullptr;
  const auto found = value->find(name);
  return found != value->end() && found->is_object() ? &*found : nullptr;
}

std::string text_in(const json* value, const char* name) {
  if (value == nullptr) return "";
  const auto found = value->find(name);
  return found != value->end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the handle in the member `kind` of the arguments or else of the answer. Any other text
/// counts as none, because a client can send what it wants.
std::string handle_in(const json* arguments, const json* answer, const char* kind) {
  for (const json* place : {arguments, answer}) {
    std::string text = text_in(place, kind);
    if (is_handle(text, kind)) return text;
  }
  return "";
}

std::string name_of_rpc_error(const json& error) {
  const auto code = error.find("code");
  switch (code != error.end() && code->is_number_integer() ? code->get<int>() : 0) {
    case mcp::kParseError: return "parse_error";
    case mcp::kInvalidRequest: return "invalid_request";
    case mcp::kMethodNotFound: return "method_not_found";
    case mcp::kInvalidParams: return "invalid_params";
    case mcp::kInternalError: return "internal_error";
    case mcp::kResourceNotFound: return "resource_not_found";
    case mcp::kHeaderMismatch: return "header_mismatch";
    case mcp::kMissingCapability: return "missing_capability";
    case mcp::kUnsupportedVersion: return "unsupported_version";
    default: return "other";
  }
}

/// Returns the name if it is that of an error of the tools or of a verdict, else "other".
std::string known(const std::string& name) {
  constexpr std::array kCodes = {ErrorCode::invalid_argument,
                                 ErrorCode::not_found,
                                 ErrorCode::permission_denied,
                                 ErrorCode::resource_exhausted,
                                 ErrorCode::unavailable,
                                 ErrorCode::corrupt,
                                 ErrorCode::io,
                                 ErrorCode::cancelled,
                                 ErrorCode::unsupported,
                                 ErrorCode::reference,
                                 ErrorCode::internal};
  for (const ErrorCode code : kCodes) {
    if (name == to_string(code)) return name;
  }
  return sandbox::error_kind_from(name) ? name : "other";
}

std::string error_of(const json& response, const json* answer) {
  if (const json* error = object_in(&response, "error")) return name_of_rpc_error(*error);
  if (const json* error = object_in(answer, "error")) return known(text_in(error, "code"));
  const std::string kind = text_in(answer, "error_kind");
  if (!kind.empty()) return kind == sandbox::to_string(sandbox::ErrorKind::none) ? "" : known(kind);
  const json* result = object_in(&response, "result");
  return result != nullptr && result->value("isError", false) ? "other" : "";
}

}  // namespace

CallFacts facts_of(const mcp::ObservedCall& observed) {
  CallFacts facts;
  const mcp::ResolvedCall& call = observed.call;
  facts.method = call.method != nullptr ? std::string_view(call.message.method) : "other";
  if (call.tool != nullptr) facts.tool = call.tool->tool.name;
  const json* arguments = object_in(&call.message.params, "arguments");
  const json* answer = nullptr;
  if (observed.response) {
    answer = object_in(object_in(&*observed.response, "result"), "structuredContent");
    facts.error = error_of(*observed.response, answer);
  }
  facts.run = handle_in(arguments, answer, "run");
  facts.job = handle_in(arguments, answer, "job");
  return facts;
}

std::string_view class_of(const std::shared_ptr<const mcp::Caller>& caller) {
  if (caller == nullptr) return "none";
  return caller->allows(tools::kScopeScore) ? tools::kScopeScore : tools::kScopePractice;
}

}  // namespace assay::server
