#include "server/commands/print_config.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/stderr_line.h"
#include "server/app/exit_status.h"
#include "server/app/workspace.h"
#include "server/commands/client_config.h"
#include "server/commands/config_file.h"

namespace assay::server {
namespace {

/// Returns what a client's configuration must contain for a server with these options: the command
/// that starts the server or, with --http, the server's URL. All paths are absolute, because the
/// client starts the server in a different directory.
Result<ServerEntry> entry_of(const ServeOptions& options) {
  const Result<Paths> paths = find_paths();
  if (!paths) return fail(paths.error());
  ServerEntry entry;
  if (!options.http.address.empty()) {
    const Result<Address> address = parse_address(options.http.address);
    if (!address) return fail(address.error());
    if (address->port == 0)
      return fail(
          ErrorCode::invalid_argument,
          "port 0 stands for a port that is chosen at the start, so no configuration can name "
          "it; give --http another port");
    std::string host = address->host;
    // Each of these two addresses stands for all addresses of this machine, so a client cannot
    // connect to it.
    if (host == "0.0.0.0" || host == "::") {
      if (options.http.allowed_hosts.empty() && options.http.oauth.public_url.empty())
        return fail(ErrorCode::invalid_argument,
                    "a client cannot connect to " + host + "; name this machine with --allow-host");
      if (!options.http.allowed_hosts.empty()) host = options.http.allowed_hosts.front();
    }
    const bool v6 = host.find(':') != std::string::npos;
    entry.url = (options.http.tls_certificate.empty() ? "http://" : "https://") +
                (v6 ? "[" + host + "]" : host) + ":" + std::to_string(address->port) + "/mcp";
    if (!options.http.oauth.public_url.empty()) entry.url = options.http.oauth.public_url;
    // A client of an identity provider gets its tokens itself.
    entry.token = !options.http.token_file.empty() && options.http.oauth.issuers.empty();
  }
  entry.command = (paths->binaries / "assay").string();
  entry.args = {"serve", "--stdio"};
  const std::vector<std::string> workers = arguments_of(options.workers);
  entry.args.insert(entry.args.end(), workers.begin(), workers.end());
  if (!options.shares_file.empty())
    entry.args.insert(entry.args.end(),
                      {"--shares-file", std::filesystem::absolute(options.shares_file).string()});
  if (workers.empty() || options.devices_given) {
    for (const std::string& device : options.devices)
      entry.args.insert(entry.args.end(), {"--device", device});
  }
  if (!options.store.empty())
    entry.args.insert(entry.args.end(),
                      {"--store", std::filesystem::absolute(options.store).string()});
  if (!options.suite.empty())
    entry.args.insert(entry.args.end(),
                      {"--suite", std::filesystem::absolute(options.suite).string()});
  if (!options.source_folder.empty())
    entry.args.insert(
        entry.args.end(),
        {"--source-folder", std::filesystem::absolute(options.source_folder).string()});
  if (options.drain_s != kDefaultDrainS)
    entry.args.insert(entry.args.end(), {"--drain-s", std::to_string(options.drain_s)});
  for (const std::vector<std::string>& more :
       {arguments_of(options.limits), arguments_of(options.sandbox), arguments_of(options.observe)})
    entry.args.insert(entry.args.end(), more.begin(), more.end());
  for (const char* variable : {"ASSAY_ROOT", "ASSAY_PYTHON", "ASSAY_STATE_DIR", "XDG_STATE_HOME"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    // ASSAY_PYTHON may be a name that only this process's PATH has.
    entry.env[variable] = std::string_view(variable) == "ASSAY_PYTHON"
                              ? paths->python.string()
                              : std::filesystem::absolute(value).string();
  }
  return entry;
}

int status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_found: return kUnknownName;
    case ErrorCode::corrupt: return kBadData;
    case ErrorCode::io: return kNoInput;
    case ErrorCode::invalid_argument: return kUsage;
    default: return kBadConfig;
  }
}

}  // namespace

int print_config(const ServeOptions& options) {
  const Result<ServerEntry> entry = entry_of(options);
  if (!entry)
    return print_error("serve",
                       entry.error().code == ErrorCode::invalid_argument ? kUsage : kBadConfig,
                       entry.error().message);
  const Result<ClientConfig> config = client_config(options.print_config, *entry);
  if (!config) return print_error("serve", status_of(config.error()), config.error().message);
  if (options.config_file.empty()) {
    std::fputs(config->text.c_str(), stdout);
    stderr_line("for " + config->where);
    return kPass;
  }
  const Result<FileChange> change = write_config(options.config_file, *config);
  if (!change) return print_error("serve", status_of(change.error()), change.error().message);
  stderr_line(options.config_file + ": " +
              (*change == FileChange::none ? "has this configuration already"
                                           : "the server 'assay' was written"));
  return kPass;
}

}  // namespace assay::server
