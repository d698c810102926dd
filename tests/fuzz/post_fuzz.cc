// Fuzzes how the server interprets a POST to /mcp. The first lines of the input are the headers
// that repeat fields of the message. The rest of the input is the body.
//
// For any bytes there must be no crash. A body must either be refused with a 4xx status and a
// JSON-RPC error, or become a call that the dispatcher answers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_server.h"
#include "tests/fuzz/fuzz_server.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::mcp;
  static Server& server =
      *fuzz::make_server().release();  // never destroyed, because the fuzzer ends with _exit
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::map<std::string, std::string> headers;
  for (const char* name : {kHeaderVersion, kHeaderMethod, kHeaderName, kHeaderSession, "Accept"}) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return 0;
    if (end > 0)
      headers[name] = rest.substr(0, end);  // an empty line means that the header is missing
    rest.remove_prefix(end + 1);
  }
  const HeaderLookup lookup = [&headers](const char* name) -> std::optional<std::string> {
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional(found->second);
  };
  const HttpOptions options;
  const Interpretation meaning = interpret(rest, lookup, server.dispatcher(), options);
  if (!meaning.call) {
    if (meaning.reply.status < 400 || meaning.reply.status > 499 ||
        !nlohmann::json::accept(meaning.reply.body))
      std::abort();
    return 0;
  }
  const Message& message = meaning.call->resolved.message;
  const Reply reply =
      reply_to(server.dispatcher().handle(meaning.call->resolved, meaning.call->transport));
  if (message.kind == Message::Kind::request ? !nlohmann::json::accept(reply.body)
                                             : reply.status != 202)
    std::abort();
  return 0;
}
