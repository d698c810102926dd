#include "server/mcp/http/http_endpoint.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

std::optional<Reply> refuse_legacy_version(const Message& message, const HeaderLookup& header) {
  const auto version = header(kHeaderVersion);
  if (!version || is_legacy_version(*version) || message.method == "initialize")
    return std::nullopt;
  json supported = json::array({kStatelessVersion});
  for (const std::string_view known : kLegacyVersions) supported.push_back(known);
  return Reply{400,
               dump(make_error(message.id, kUnsupportedVersion, "Unsupported protocol version",
                               {{"supported", supported}, {"requested", *version}})),
               {},
               false};
}

}  // namespace

Reply error_reply(int status, int code, const std::string& message, bool close) {
  return {status, dump(make_error(nullptr, code, message)), {}, close};
}

Reply busy_reply(const std::string& what) {
  Reply reply = error_reply(503, kInternalError, what + "; retry in a second", true);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

std::optional<Reply> refuse_headers(const HeaderLookup& header,
                                    const std::function<std::size_t(const char*)>& count,
                                    const HttpOptions& options) {
  // Where the body ends must be beyond doubt, or the next request on the connection is forged from
  // this one's body.
  const std::size_t lengths = count("Content-Length");
  const std::size_t codings = count("Transfer-Encoding");
  if (lengths + codings > 1)
    return error_reply(400, kInvalidRequest, "more than one Content-Length or Transfer-Encoding",
                       true);
  if (lengths + codings == 0)
    return error_reply(411, kInvalidRequest, "Content-Length is missing", true);
  if (codings == 1 && header("Transfer-Encoding").value_or("") != "chunked")
    return error_reply(400, kInvalidRequest, "the only Transfer-Encoding is chunked", true);
  if (lengths == 1) {
    const std::string length = header("Content-Length").value_or("");
    if (length.empty() || length.size() > 18 ||
        length.find_first_not_of("0123456789") != std::string::npos) {
      return error_reply(400, kInvalidRequest, "Content-Length must be a decimal number", true);
    }
    if (std::stoll(length) > options.max_body_bytes) {
      return error_reply(413, kInvalidRequest,
                         "the body is larger than the limit of " +
                             std::to_string(options.max_body_bytes) + " bytes",
                         true);
    }
  }
  if (header("Content-Encoding").value_or("identity") != "identity")
    return error_reply(415, kInvalidRequest, "compressed bodies are not accepted", true);
  if (!accepts(header("Content-Type").value_or(""), "application/json"))
    return error_reply(415, kInvalidRequest, "Content-Type must be application/json", true);
  return std::nullopt;
}

Interpretation interpret(std::string_view body, const HeaderLookup& header,
                         const Dispatcher& dispatcher, const HttpOptions& options) {
  MessageLimits limits;
  limits.max_bytes = options.max_body_bytes;
  auto message = parse_message(body, limits);
  if (!message) return {std::nullopt, {400, dump(message.error()), {}, false}};
  const bool newest = header(kHeaderVersion) == std::string(kStatelessVersion);
  Call call{dispatcher.resolve(std::move(*message), newest), {}, false};
  const ResolvedCall& resolved = call.resolved;
  const bool request = resolved.message.kind == Message::Kind::request;
  if (request && resolved.stateless) {
    auto mismatch = header_mismatch(resolved.message, header);
    if (!mismatch) mismatch = Dispatcher::argument_mismatch(resolved, header);
    if (mismatch)
      return {std::nullopt,
              {400, dump(make_error(resolved.message.id, kHeaderMismatch, *mismatch)), {}, false}};
  } else if (request) {
    if (const auto refusal = refuse_legacy_version(resolved.message, header))
      return {std::nullopt, *refusal};
  }
  call.stream =
      accepts(header("Accept").value_or(""), "text/event-stream") && resolved.wants_stream();
  return {std::move(call), {}};
}

Reply reply_to(const Outcome& outcome) {
  if (!outcome.response) return {202, "", {}, false};
  return {outcome.http_status, dump(*outcome.response), {}, false};
}

}  // namespace assay::mcp
