// Fuzzes what every client can send: one message per line through the parser and the dispatcher,
// over stdio's rules and over HTTP's, in both eras, against a server with tools, resources and
// prompts of its own.
//
// Whatever the bytes: no crash, no undefined behaviour; a request is answered exactly once, with
// its own id; the answer is valid JSON-RPC and UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/mcp/core/dispatch.h"
#include "tests/fuzz/fuzz_server.h"

namespace {

using namespace assay::mcp;

/// The dispatcher's promise about one message.
void check(const Message& message, const Outcome& outcome) {
  const bool request = message.kind == Message::Kind::request;
  if (outcome.response.has_value() != request) std::abort();
  if (!request) return;
  const nlohmann::json& response = *outcome.response;
  if (response.value("jsonrpc", "") != "2.0" || response.at("id") != message.id) std::abort();
  if (response.contains("result") == response.contains("error")) std::abort();
  if (!nlohmann::json::accept(dump(response))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server& server =
      *fuzz::make_server().release();  // never destroyed: the fuzzer leaves by _exit
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  bool stateless = false;  // as the HTTP edge would know from a header: every second line
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const auto message = parse_message(line);
    if (!message) {
      if (!message.error().contains("error") || !nlohmann::json::accept(dump(message.error())))
        std::abort();
      continue;
    }
    TransportContext transport;
    transport.scope = "fuzz";
    transport.stateless = stateless;
    transport.notify = [](const nlohmann::json& notification) {
      if (!nlohmann::json::accept(dump(notification))) std::abort();
    };
    check(*message, server.dispatcher().handle(*message, transport));
    stateless = !stateless;
  }
  return 0;
}
