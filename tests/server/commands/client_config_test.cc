// Tests the cases of client_config() that docs/how-to/connect-a-client.md does not show.
// tests/clients/test_config.py compares the other texts with that document.
#include "server/commands/client_config.h"

#include "base/json.h"
#include "tests/catch.h"

using assay::server::client_config;
using assay::server::ServerEntry;
using nlohmann::json;

namespace {

ServerEntry awkward() {
  return {.command = "/opt/it's \"here\"/assay",
          .args = {"serve", "--stdio", "--store", "/tmp/a b$c.db"},
          .env = {{"ASSAY_PYTHON", "/opt/py thon"}},
          .url = "",
          .token = false};
}

}  // namespace

TEST_CASE("an unknown client is an error that names the valid ones") {
  const auto config = client_config("emacs", awkward());
  REQUIRE(!config);
  CHECK(config.error().code == assay::ErrorCode::not_found);
  CHECK(config.error().message ==
        "unknown client 'emacs'; valid: claude-code, claude-desktop, cline, codex, cursor, gemini, "
        "jetbrains, json, python, typescript, vscode, windsurf, zed");
}

TEST_CASE("paths with quotes and spaces survive every form") {
  for (const char* client : {"claude-code", "claude-desktop", "cline", "cursor", "gemini",
                             "jetbrains", "json", "vscode", "windsurf", "zed"}) {
    const auto config = client_config(client, awkward());
    REQUIRE(config);
    const json file = json::parse(config->text);
    REQUIRE(file.size() == 1);
    const json server = file.begin().value()["assay"];
    CHECK(server["command"] == awkward().command);
    CHECK(server["args"] == awkward().args);
    CHECK(server["env"]["ASSAY_PYTHON"] == "/opt/py thon");
  }
  const auto codex = client_config("codex", awkward());
  REQUIRE(codex);
  CHECK(codex->text.find(R"(command = "/opt/it's \"here\"/assay")") != std::string::npos);
  CHECK(codex->text.find("[mcp_servers.assay.env]\nASSAY_PYTHON = \"/opt/py thon\"\n") !=
        std::string::npos);
}

TEST_CASE("the shell command of Claude Code is quoted for a shell") {
  const auto config = client_config("claude-code", awkward());
  REQUIRE(config);
  CHECK(
      config->where.find(
          R"(claude mcp add assay --env 'ASSAY_PYTHON=/opt/py thon' -- '/opt/it'\''s "here"/assay' serve --stdio --store '/tmp/a b$c.db')") !=
      std::string::npos);
}

TEST_CASE(
    "no configuration contains a token, and none asks for a token that the server does not need") {
  for (const char* client : {"claude-code", "cline", "codex", "cursor", "gemini", "jetbrains",
                             "json", "python", "typescript", "vscode", "windsurf", "zed"}) {
    ServerEntry entry;
    entry.url = "http://127.0.0.1:8080/mcp";
    const auto without = client_config(client, entry);
    entry.token = true;
    const auto with = client_config(client, entry);
    REQUIRE(without);
    REQUIRE(with);
    CHECK(without->text.find(entry.url) != std::string::npos);
    for (const char* word : {"Authorization", "TOKEN", "oken_env"})
      CHECK(without->text.find(word) == std::string::npos);
    const bool names_it = with->text.find("ASSAY_TOKEN") != std::string::npos ||
                          with->text.find("${input:assay-token}") != std::string::npos;
    CHECK(names_it);
  }
}

TEST_CASE("a path that is not UTF-8 is refused") {
  ServerEntry entry = awkward();
  entry.command = "/opt/\xff/assay";
  for (const char* client : {"claude-code", "codex", "python"}) {
    const auto config = client_config(client, entry);
    REQUIRE(!config);
    CHECK(config.error().message.find("UTF-8") != std::string::npos);
  }
}

TEST_CASE("a client that only starts servers refuses a URL") {
  ServerEntry entry;
  entry.url = "http://127.0.0.1:8080/mcp";
  const auto config = client_config("claude-desktop", entry);
  REQUIRE(!config);
  CHECK(config.error().code == assay::ErrorCode::invalid_argument);
  CHECK(config.error().message.find("leave out --http") != std::string::npos);
}

TEST_CASE("a client that replaces no variables is told where the token goes") {
  ServerEntry entry;
  entry.url = "http://127.0.0.1:8080/mcp";
  entry.token = true;
  for (const char* client : {"cline", "jetbrains", "json", "zed"}) {
    const auto config = client_config(client, entry);
    REQUIRE(config);
    CHECK(config->text.find("Bearer PUT_THE_ASSAY_TOKEN_HERE") != std::string::npos);
    CHECK(config->where.find("replace PUT_THE_ASSAY_TOKEN_HERE by the token") != std::string::npos);
  }
}
