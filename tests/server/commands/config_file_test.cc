#include "server/commands/config_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/json.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

using assay::ErrorCode;
using assay::server::client_config;
using assay::server::ClientConfig;
using assay::server::FileChange;
using assay::server::merged_json;
using assay::server::merged_toml;
using assay::server::ServerEntry;
using assay::server::write_config;
using nlohmann::json;

namespace {

ClientConfig config_of(const char* client) {
  const auto config = client_config(
      client, {.command = "/opt/assay", .args = {"serve"}, .env = {}, .url = "", .token = false});
  REQUIRE(config);
  return *config;
}

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a JSON file keeps its other servers, its settings and their order") {
  const std::string old =
      R"({"theme": "dark", "mcpServers": {"files": {"command": "f"}, "assay": {"old": 1}}, "z": 2})";
  const auto merged = merged_json(old, config_of("cursor").text);
  REQUIRE(merged);
  const json file = json::parse(*merged);
  CHECK(file["theme"] == "dark");
  CHECK(file["z"] == 2);
  CHECK(file["mcpServers"]["files"]["command"] == "f");
  CHECK(file["mcpServers"]["assay"] == json{{"command", "/opt/assay"}, {"args", {"serve"}}});
  CHECK(merged->find("theme") < merged->find("mcpServers"));
  CHECK(merged->find("mcpServers") < merged->find("\"z\""));
  CHECK(*merged_json(*merged, config_of("cursor").text) == *merged);
  CHECK(merged_json("", config_of("cursor").text));
}

TEST_CASE("an input that VS Code asks for is added once") {
  ServerEntry entry;
  entry.url = "http://127.0.0.1:1/mcp";
  entry.token = true;
  const std::string added = client_config("vscode", entry)->text;
  const auto merged = merged_json(R"({"inputs": [{"id": "other"}], "servers": {}})", added);
  REQUIRE(merged);
  CHECK(json::parse(*merged)["inputs"].size() == 2);
  CHECK(*merged_json(*merged, added) == *merged);
}

TEST_CASE("a JSON file that cannot be merged without a loss is refused") {
  const std::string added = config_of("zed").text;
  const auto commented = merged_json("{\n  // my settings\n  \"a\": 1}", added);
  REQUIRE_FALSE(commented);
  CHECK(commented.error().code == ErrorCode::corrupt);
  CHECK(commented.error().message == "it has comments, which would be lost");
  for (const char* text : {"{", "[1]", "no", "{\"a\": \"\xff\"}"})
    CHECK(merged_json(text, added).error().code == ErrorCode::corrupt);
  const auto other = merged_json(R"({"context_servers": ["x"]})", added);
  REQUIRE_FALSE(other);
  CHECK(other.error().message == "'context_servers' has another type there");
}

TEST_CASE("a TOML file keeps every byte, and gets the tables at its end") {
  const std::string added = config_of("codex").text;
  const std::string old = "# mine\nmodel = \"m\"\n[mcp_servers.files]\ncommand = \"f\"";
  const auto merged = merged_toml(old, added);
  REQUIRE(merged);
  CHECK(*merged == old + "\n\n" + added);
  CHECK(*merged_toml(*merged, added) == *merged);
  CHECK(*merged_toml("", added) == added);
}

TEST_CASE("a TOML file that is broken or has another server of this name is refused") {
  const std::string added = config_of("codex").text;
  CHECK(merged_toml("a = [", added).error().code == ErrorCode::corrupt);
  for (const char* text :
       {"[mcp_servers.assay]\ncommand = \"old\"", "mcp_servers = {}", "mcp_servers = 3"}) {
    const auto merged = merged_toml(text, added);
    REQUIRE_FALSE(merged);
    CHECK(merged.error().code == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a file is replaced as a whole, keeps its permissions, and a link stays a link") {
  const assay::testing::TemporaryFolder folder;
  const auto file = folder.path() / "settings.json";
  const auto link = folder.path() / "link.json";
  assay::testing::write_file(file, R"({"a": 1})");
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  std::filesystem::create_symlink(file, link);
  CHECK(*write_config(link.string(), config_of("gemini")) == FileChange::written);
  CHECK(*write_config(link.string(), config_of("gemini")) == FileChange::none);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(json::parse(bytes_of_file(file)).size() == 2);
  struct stat facts {};
  REQUIRE(::stat(file.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
  const auto entries = std::filesystem::directory_iterator(folder.path());
  CHECK(std::distance(begin(entries), end(entries)) == 2);  // no temporary file is left
}

TEST_CASE("a file that cannot be parsed is not touched, and a program is no configuration") {
  const assay::testing::TemporaryFolder folder;
  const auto file = folder.path() / "broken.json";
  assay::testing::write_file(file, "{\"a\": ");
  const auto change = write_config(file.string(), config_of("json"));
  REQUIRE_FALSE(change);
  CHECK(change.error().message.find("broken.json: it is not JSON; it was not changed") !=
        std::string::npos);
  CHECK(bytes_of_file(file) == "{\"a\": ");
  CHECK(write_config(file.string(), config_of("python")).error().code ==
        ErrorCode::invalid_argument);
  const auto nowhere = write_config((folder.path() / "no/x.json").string(), config_of("json"));
  CHECK(nowhere.error().code == ErrorCode::io);
}
