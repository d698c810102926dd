#include "server/mcp/http/http_response.h"

#include <array>
#include <charconv>

#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {
namespace {

constexpr int kNoContent = 204;

std::string_view phrase_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

std::string status_line(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(phrase_of(status)) + "\r\n";
}

/// Returns the headers of `reply`, each with its line break.
std::string headers_of(const Reply& reply) {
  std::string text;
  for (const auto& [name, value] : reply.headers)
    text.append(name).append(": ").append(value).append("\r\n");
  if (!reply.body.empty()) text.append("Content-Type: ").append(reply.content_type).append("\r\n");
  if (reply.status != kNoContent)
    text.append("Content-Length: ").append(std::to_string(reply.body.size())).append("\r\n");
  return text;
}

}  // namespace

Reply error_reply(int status, int code, const std::string& message, bool close) {
  return {.status = status, .body = dump(make_error(nullptr, code, message)), .close = close};
}

Reply health_reply(bool draining) {
  if (draining) return {.status = 503, .body = R"({"status":"draining"})"};
  return {.body = R"({"status":"ok"})"};
}

Reply busy_reply(const std::string& what) {
  Reply reply = error_reply(503, kInternalError, what + "; retry in a second", true);
  reply.headers.emplace_back("Retry-After", "1");
  reply.refusal = Refusal::busy;
  return reply;
}

Reply busy_reply(ShareLimiter::Refusal refusal, const std::string& what) {
  const bool own = refusal == ShareLimiter::Refusal::share_taken;
  return busy_reply("too many " + what + (own ? " with this token" : ""));
}

std::string closing_reply(const Reply& reply) {
  return status_line(reply.status) + "Connection: close\r\n" + headers_of(reply) + "\r\n" +
         reply.body;
}

void ResponseWriter::write_head(int status, std::string_view further_headers) {
  begun_ = true;
  status_ = status;
  metrics_.count_response(status);
  std::string head = status_line(status);
  if (!usable_) {
    head += "Connection: close\r\n";
  } else {
    if (request_.http_1_0) head += "Connection: keep-alive\r\n";
    head += "Keep-Alive: timeout=" + std::to_string(idle_timeout_.count()) + "\r\n";
  }
  connection_.write(head.append(more_headers_).append(further_headers).append("\r\n"));
}

void ResponseWriter::reply(const Reply& reply) {
  if (reply.close) usable_ = false;
  refusal_ = reply.refusal;
  write_head(reply.status, headers_of(reply));
  if (request_.method == "HEAD") return;
  bytes_ += static_cast<std::int64_t>(reply.body.size());
  connection_.write(reply.body);
}

void ResponseWriter::fail() {
  if (!begun_)
    reply(
        error_reply(500, kInternalError, "internal error; the server's log has the details", true));
  usable_ = false;
}

void ResponseWriter::begin_stream() {
  if (request_.http_1_0)
    usable_ = false;  // HTTP/1.0 has no chunks, so closing the connection ends the stream
  write_head(200, std::string("Content-Type: text/event-stream\r\n"
                              "X-Accel-Buffering: no\r\nCache-Control: no-cache\r\n") +
                      (request_.http_1_0 ? "" : "Transfer-Encoding: chunked\r\n"));
  connection_.flush();
}

bool ResponseWriter::send(std::string_view bytes) {
  if (bytes.empty()) return !connection_.broken();  // an empty chunk would end the stream
  bytes_ += static_cast<std::int64_t>(bytes.size());
  if (request_.http_1_0) return connection_.write(bytes) && connection_.flush();
  std::array<char, 2 * sizeof(std::size_t)> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
  connection_.write({size.data(), static_cast<std::size_t>(end - size.data())});
  connection_.write("\r\n");
  connection_.write(bytes);
  connection_.write("\r\n");
  return connection_.flush();
}

void ResponseWriter::end_stream() {
  if (!request_.http_1_0) connection_.write("0\r\n\r\n");
  connection_.flush();
}

}  // namespace assay::mcp
