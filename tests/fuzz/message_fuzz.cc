// Fuzzes the messages that every client can send. Each line of the input is a message for the
// parser and the dispatcher. The rules alternate from line to line: those of stdio, and those of a
// stateless request over HTTP. The server has a tool, a resource and a prompt.
//
// For any bytes there must be no crash and no undefined behaviour. A request must be answered
// exactly once, with its own id. The answer must be valid JSON-RPC and UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/mcp/core/dispatch.h"
#include "tests/fuzz/fuzz_server.h"

namespace {

using namespace assay::mcp;

/// Checks the outcome of one message.
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
      *fuzz::make_server().release();  // never destroyed, because the fuzzer ends with _exit
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  bool stateless = false;  // the rules for this line; alternates from line to line
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
