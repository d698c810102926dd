#include "server/mcp/http/http_endpoint.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kMaxLengthDigits = 18;  // any number with so many digits fits into 64 bits

std::optional<Reply> refuse_legacy_version(const Message& message, const HeaderLookup& header) {
  const auto version = header(kHeaderVersion);
  if (!version || is_legacy_version(*version) || message.method == "initialize")
    return std::nullopt;
  return Reply{
      .status = 400,
      .body = dump(make_error(message.id, kUnsupportedVersion, "Unsupported protocol version",
                              {{"supported", supported_versions()}, {"requested", *version}}))};
}

}  // namespace

tl::expected<BodyFraming, Reply> check_body_headers(const HttpRequest& request,
                                                    const HttpOptions& options) {
  const auto refuse = [](int status, const std::string& why) {
    return tl::unexpected<Reply>(error_reply(status, kInvalidRequest, why, true));
  };
  BodyFraming framing;
  // Each of these headers occurs at most once, because parse_head() has refused all other requests.
  const auto length = request.header("Content-Length");
  const auto coding = request.header("Transfer-Encoding");
  if (!length && !coding) return refuse(411, "Content-Length is missing");
  if (coding && *coding != "chunked") return refuse(400, "the only Transfer-Encoding is chunked");
  framing.chunked = coding.has_value();
  if (length) {
    if (length->empty() || length->size() > kMaxLengthDigits ||
        length->find_first_not_of("0123456789") != std::string::npos) {
      return refuse(400, "Content-Length must be a decimal number");
    }
    framing.bytes = std::stoull(*length);
    if (framing.bytes > static_cast<std::size_t>(options.max_body_bytes))
      return tl::unexpected<Reply>(too_large_reply(options));
  }
  if (request.header("Content-Encoding").value_or("identity") != "identity")
    return refuse(415, "compressed bodies are not accepted");
  if (!accepts(request.header("Content-Type").value_or(""), "application/json"))
    return refuse(415, "Content-Type must be application/json");
  return framing;
}

Reply too_large_reply(const HttpOptions& options) {
  Reply reply = error_reply(
      413, kInvalidRequest,
      "the body is larger than the limit of " + std::to_string(options.max_body_bytes) + " bytes",
      true);
  reply.refusal = Refusal::size;
  return reply;
}

Interpretation interpret(std::string_view body, const HeaderLookup& header,
                         const Dispatcher& dispatcher, const HttpOptions& options) {
  MessageLimits limits;
  limits.max_bytes = options.max_body_bytes;
  auto message = parse_message(body, limits);
  if (!message) return {std::nullopt, {.status = 400, .body = dump(message.error())}};
  const bool newest = header(kHeaderVersion) == std::string(kStatelessVersion);
  Call call{dispatcher.resolve(std::move(*message), newest), {}, false};
  const ResolvedCall& resolved = call.resolved;
  const bool request = resolved.message.kind == Message::Kind::request;
  if (request && resolved.stateless) {
    auto mismatch = header_mismatch(resolved.message, header);
    if (!mismatch) mismatch = Dispatcher::argument_mismatch(resolved, header);
    if (mismatch)
      return {std::nullopt,
              {.status = 400,
               .body = dump(make_error(resolved.message.id, kHeaderMismatch, *mismatch))}};
  } else if (request) {
    if (const auto refusal = refuse_legacy_version(resolved.message, header))
      return {std::nullopt, *refusal};
  }
  call.stream =
      accepts(header("Accept").value_or(""), "text/event-stream") && resolved.wants_stream();
  return {std::move(call), {}};
}

Reply reply_to(const Outcome& outcome) {
  if (!outcome.response) return {.status = 202};
  return {.status = outcome.http_status, .body = dump(*outcome.response)};
}

}  // namespace assay::mcp
