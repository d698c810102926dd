#include "server/commands/client_config.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json.h"
#include "base/text.h"

namespace assay::server {
namespace {

using Json = nlohmann::ordered_json;  // keeps members in the usual order: command, args, env

constexpr const char* kName = "assay";

/// Quotes a path or an argument as JSON. The result is also a valid string literal in TOML, Python
/// and JavaScript.
std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + quoted(item);
  return "[" + text + "]";
}

Json command_of(const ServerEntry& entry) {
  Json server = {{"command", entry.command}, {"args", entry.args}};
  if (!entry.env.empty()) server["env"] = entry.env;
  return server;
}

Json bearer(const std::string& reference) { return {{"Authorization", "Bearer " + reference}}; }

std::string document(const char* key, const Json& server) {
  return Json{{key, {{kName, server}}}}.dump(2) + "\n";
}

ClientConfig claude_code(const ServerEntry& entry) {
  const std::string variable = kTokenVariable;
  if (entry.url.empty()) {
    Json server = {{"type", "stdio"}};
    server.update(command_of(entry));
    // The name comes before --env, because --env takes every word up to the next option.
    std::string command = std::string("claude mcp add ") + kName;
    for (const auto& [key, value] : entry.env) command += " --env " + shell_word(key + "=" + value);
    command += " -- " + shell_word(entry.command);
    for (const std::string& arg : entry.args) command += " " + shell_word(arg);
    return {document("mcpServers", server), ".mcp.json in the project's root; or: " + command};
  }
  Json server = {{"type", "http"}, {"url", entry.url}};
  std::string command = "claude mcp add --transport http assay " + shell_word(entry.url);
  if (entry.token) {
    server["headers"] = bearer("${" + variable + "}");
    // In single quotes, so that Claude Code replaces the variable each time it connects. The shell
    // would write the token itself into Claude Code's configuration.
    command += " --header " + shell_word("Authorization: Bearer ${" + variable + "}");
  }
  return {document("mcpServers", server), ".mcp.json in the project's root; or: " + command};
}

ClientConfig codex(const ServerEntry& entry) {
  std::string text = "[mcp_servers.assay]\n";
  if (entry.url.empty()) {
    text += "command = " + quoted(entry.command) + "\nargs = " + quoted_list(entry.args) + "\n";
    if (!entry.env.empty()) text += "\n[mcp_servers.assay.env]\n";
    for (const auto& [key, value] : entry.env) text += key + " = " + quoted(value) + "\n";
  } else {
    text += "url = " + quoted(entry.url) + "\n";
    if (entry.token) text += std::string("bearer_token_env_var = ") + quoted(kTokenVariable) + "\n";
  }
  return {text, "~/.codex/config.toml"};
}

/// Returns the bearer header for a client that replaces no variables in its configuration.
Json bearer_by_hand() { return bearer(std::string("PUT_THE_") + kTokenVariable + "_HERE"); }

constexpr const char* kByHand = "; replace PUT_THE_ASSAY_TOKEN_HERE by the token";

/// Returns the configuration of a client that lists its servers below "mcpServers", and has the URL
/// of a server in the member `url_key`.
ClientConfig usual(const ServerEntry& entry, const char* url_key, const Json& token_header,
                   const std::string& where) {
  Json server = entry.url.empty() ? command_of(entry) : Json{{url_key, entry.url}};
  if (!entry.url.empty() && entry.token) server["headers"] = token_header;
  return {document("mcpServers", server), where};
}

ClientConfig claude_desktop(const ServerEntry& entry) {
  return {document("mcpServers", command_of(entry)),
          "claude_desktop_config.json, which Settings > Developer > Edit Config opens"};
}

ClientConfig cline(const ServerEntry& entry) {
  const std::string where =
      "cline_mcp_settings.json, which MCP Servers > Configure > Configure MCP Servers opens";
  if (entry.url.empty()) return {document("mcpServers", command_of(entry)), where};
  Json server = {{"type", "streamableHttp"}, {"url", entry.url}};
  if (entry.token) server["headers"] = bearer_by_hand();
  return {document("mcpServers", server), where + (entry.token ? kByHand : "")};
}

ClientConfig jetbrains(const ServerEntry& entry) {
  return usual(entry, "url", bearer_by_hand(),
               std::string("Settings > Tools > AI Assistant > Model Context Protocol, or for Junie "
                           ".junie/mcp/mcp.json in the project's root") +
                   (entry.token && !entry.url.empty() ? kByHand : ""));
}

ClientConfig generic(const ServerEntry& entry) {
  const std::string where = "any client that lists its servers below \"mcpServers\"";
  if (entry.url.empty()) return {document("mcpServers", command_of(entry)), where};
  Json server = {{"type", "http"}, {"url", entry.url}};
  if (entry.token) server["headers"] = bearer_by_hand();
  return {document("mcpServers", server), where + (entry.token ? kByHand : "")};
}

ClientConfig windsurf(const ServerEntry& entry) {
  return usual(entry, "serverUrl", bearer(std::string("${env:") + kTokenVariable + "}"),
               "~/.codeium/windsurf/mcp_config.json");
}

ClientConfig zed(const ServerEntry& entry) {
  Json server = entry.url.empty() ? command_of(entry) : Json{{"url", entry.url}};
  const bool by_hand = !entry.url.empty() && entry.token;
  if (by_hand) server["headers"] = bearer_by_hand();
  return {document("context_servers", server),
          std::string("~/.config/zed/settings.json, beside the settings that it has") +
              (by_hand ? kByHand : "")};
}

ClientConfig cursor(const ServerEntry& entry) {
  return usual(entry, "url", bearer(std::string("${env:") + kTokenVariable + "}"),
               ".cursor/mcp.json in the project's root, or ~/.cursor/mcp.json");
}

ClientConfig gemini(const ServerEntry& entry) {
  return usual(entry, "httpUrl", bearer(std::string("$") + kTokenVariable),
               "~/.gemini/settings.json, or .gemini/settings.json in the project's root");
}

ClientConfig vscode(const ServerEntry& entry) {
  const std::string where = ".vscode/mcp.json in the project's root";
  if (entry.url.empty()) {
    Json server = {{"type", "stdio"}};
    server.update(command_of(entry));
    return {document("servers", server), where};
  }
  Json file = Json::object();
  Json server = {{"type", "http"}, {"url", entry.url}};
  if (entry.token) {  // VS Code asks for the token once and keeps the token in its secret store
    file["inputs"] = Json::array({{{"type", "promptString"},
                                   {"id", "assay-token"},
                                   {"description", "Assay token"},
                                   {"password", true}}});
    server["headers"] = bearer("${input:assay-token}");
  }
  file["servers"] = {{kName, server}};
  return {file.dump(2) + "\n", where};
}

ClientConfig python(const ServerEntry& entry) {
  std::string imports = "import asyncio\n";
  std::string server;
  if (entry.url.empty()) {
    imports += std::string(entry.env.empty() ? "" : "import os\n") +
               "\nfrom mcp import Client, StdioServerParameters\n";
    server = "StdioServerParameters(command=" + quoted(entry.command) +
             ", args=" + quoted_list(entry.args);
    if (!entry.env.empty()) server += ", env={**os.environ, **" + Json(entry.env).dump() + "}";
    server += ")";
  } else if (entry.token) {
    imports +=
        "import os\n\nimport httpx2\nfrom mcp import Client\nfrom mcp.client.streamable_http "
        "import streamable_http_client\n";
    server =
        "streamable_http_client(" + quoted(entry.url) +
        ", http_client=httpx2.AsyncClient(headers={\"Authorization\": f\"Bearer {os.environ['" +
        kTokenVariable + "']}\"}, timeout=60))";
  } else {
    imports += "\nfrom mcp import Client\n";
    server = quoted(entry.url);
  }
  return {imports + "\n\nasync def main() -> None:\n    server = " + server +
              "\n    async with Client(server) as client:\n        print([tool.name for tool in "
              "(await client.list_tools()).tools])\n\n\nasyncio.run(main())\n",
          "a program that uses the Python SDK (pip install mcp)"};
}

ClientConfig typescript(const ServerEntry& entry) {
  std::string imports;
  std::string transport;
  if (entry.url.empty()) {
    imports =
        "import { Client } from '@modelcontextprotocol/client';\nimport { StdioClientTransport } "
        "from '@modelcontextprotocol/client/stdio';\n";
    transport = "new StdioClientTransport({ command: " + quoted(entry.command) +
                ", args: " + quoted_list(entry.args);
    if (!entry.env.empty())
      transport += ", env: { ...process.env, ..." + Json(entry.env).dump() + " }";
    transport += " })";
  } else {
    imports =
        "import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';\n";
    transport = "new StreamableHTTPClientTransport(new URL(" + quoted(entry.url) + ")";
    if (entry.token)
      transport +=
          std::string(", { requestInit: { headers: { Authorization: `Bearer ${process.env.") +
          kTokenVariable + "}` } } }";
    transport += ")";
  }
  return {imports +
              "\nconst client = new Client({ name: 'my-agent', version: '1.0.0' }, { "
              "versionNegotiation: { mode: 'auto' } });\nawait client.connect(" +
              transport +
              ");\nconsole.log((await client.listTools()).tools.map((tool) => tool.name));\nawait "
              "client.close();\n",
          "a program that uses the TypeScript SDK (npm install @modelcontextprotocol/client)"};
}

struct Known {
  std::string_view name;
  ClientConfig (*make)(const ServerEntry& entry);
  ConfigForm form;
  bool http = true;  // the client can connect to a server over HTTP
};
constexpr std::array<Known, 13> kClients = {
    {{"claude-code", claude_code, ConfigForm::json},
     {"claude-desktop", claude_desktop, ConfigForm::json, false},
     {"cline", cline, ConfigForm::json},
     {"codex", codex, ConfigForm::toml},
     {"cursor", cursor, ConfigForm::json},
     {"gemini", gemini, ConfigForm::json},
     {"jetbrains", jetbrains, ConfigForm::json},
     {"json", generic, ConfigForm::json},
     {"python", python, ConfigForm::program},
     {"typescript", typescript, ConfigForm::program},
     {"vscode", vscode, ConfigForm::json},
     {"windsurf", windsurf, ConfigForm::json},
     {"zed", zed, ConfigForm::json}}};

}  // namespace

Result<ClientConfig> client_config(const std::string& client, const ServerEntry& entry) {
  const auto* found = std::find_if(kClients.begin(), kClients.end(),
                                   [&](const Known& known) { return known.name == client; });
  if (found == kClients.end())
    return fail(ErrorCode::not_found, "unknown client '" + client + "'; valid: " + client_names());
  if (!entry.url.empty() && !found->http)
    return fail(ErrorCode::invalid_argument,
                client +
                    " starts its servers itself and cannot use the URL of a server; leave out "
                    "--http");
  try {
    ClientConfig config = found->make(entry);
    config.form = found->form;
    return config;
  } catch (const Json::exception&) {
    return fail(ErrorCode::invalid_argument,
                "a path or an argument is not UTF-8, so no configuration file can contain it");
  }
}

std::string client_names() {
  std::string names;
  for (const Known& known : kClients) names.append(names.empty() ? "" : ", ").append(known.name);
  return names;
}

}  // namespace assay::server
