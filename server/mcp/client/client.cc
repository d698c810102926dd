#include "server/mcp/client/client.h"

#include "server/mcp/client/protocol_client.h"

namespace assay::mcp {

Result<std::unique_ptr<Client>> Client::connect_stdio(const std::vector<std::string>& command) {
  auto client = ProtocolClient::connect_stdio(command);
  if (!client) return fail(client.error());
  return std::move(*client);
}

Result<std::unique_ptr<Client>> Client::connect_http(const std::string& url,
                                                     const std::string& bearer_token) {
  auto client = ProtocolClient::connect_http(url, bearer_token);
  if (!client) return fail(client.error());
  return std::move(*client);
}

}  // namespace assay::mcp
