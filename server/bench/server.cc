#include "server/bench/server.h"

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "reference_agents/registry/provider.h"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenVariable = "ASSAY_TOKEN";

/// Starts this executable as a server. It ends when its standard input does. It does not need the
/// keys of the models, so they are removed from the environment first.
Result<std::unique_ptr<mcp::Client>> start_server(const BenchOptions& options,
                                                  const fs::path& store) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::unavailable, "readlink /proc/self/exe: " + error.message());
  std::vector<std::string> command = {self.string(),  "serve",   "--stdio",     "--device",
                                      options.device, "--store", store.string()};
  const std::vector<std::string> sandbox = server::arguments_of(options.sandbox);
  command.insert(command.end(), sandbox.begin(), sandbox.end());
  const std::vector<std::string> log = arguments_of(options.log);
  command.insert(command.end(), log.begin(), log.end());
  agents::forget_keys();
  auto client = mcp::Client::connect_stdio(command);
  if (client) return client;
  // The server has written the reason to stderr, which it shares with the bench.
  return fail(ErrorCode::unavailable, "the server on device " + options.device + " with store " +
                                          store.string() +
                                          " did not start: " + client.error().message);
}

}  // namespace

Result<std::unique_ptr<mcp::Client>> connect_bench(const BenchOptions& options,
                                                   const fs::path& store) {
  if (options.server.empty()) return start_server(options, store);
  const char* token = std::getenv(kTokenVariable);
  auto client = mcp::Client::connect_http(options.server, token == nullptr ? "" : token);
  if (!client) return client;
  if (const auto tools = (*client)->list_tools(); !tools)
    return fail(ErrorCode::unavailable,
                "no server answers at " + options.server + ": " + tools.error().message);
  return client;
}

}  // namespace assay::bench
