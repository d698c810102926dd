#include "server/mcp/http/http_library.h"

#include <optional>

namespace assay::mcp {
namespace {

// The parameter keeps the library from recognising a type that it would compress.
constexpr const char* kJsonType = "application/json; charset=utf-8";

}  // namespace

HeaderLookup lookup(const httplib::Request& request) {
  return [&request](const char* name) -> std::optional<std::string> {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? std::nullopt : std::optional(found->second);
  };
}

void write_reply(httplib::Response& response, const Reply& reply) {
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  if (!reply.close) {
    if (!reply.body.empty()) response.set_content(reply.body, kJsonType);
    return;
  }
  // A provider that fails after its last byte makes the library close the connection: there is no
  // other way to ask for that.
  response.set_header("Connection", "close");
  response.set_content_provider(
      reply.body.size(), kJsonType,
      [body = reply.body](std::size_t, std::size_t, httplib::DataSink& sink) {
        sink.write(body.data(), body.size());
        return false;
      });
}

std::string raw_reply(const Reply& reply) {
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) +
                     " Refused\r\nContent-Type: " + kJsonType + "\r\nConnection: close\r\n";
  for (const auto& [name, value] : reply.headers)
    text.append(name).append(": ").append(value).append("\r\n");
  return text + "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body;
}

}  // namespace assay::mcp
