#include "server/app/settings.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
namespace fs = std::filesystem;

namespace {

/// A folder below /tmp for configuration files.
class Files {
 public:
  Files() {
    std::string pattern = "/tmp/assay-settings-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  fs::path missing() const { return folder_ / "missing.toml"; }

 private:
  fs::path folder_;
};

/// Returns the message with which a file is refused.
std::string refusal(const std::string& text, ErrorCode code) {
  const Files files;
  const auto settings = Settings::load({files.write("a.toml", text)});
  REQUIRE_FALSE(settings);
  CHECK(settings.error().code == code);
  return settings.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the first file wins, and each value knows its file and line") {
  const Files files;
  const fs::path user = files.write("user.toml", "python = \"/a\"\n[serve]\ndevice = [\"cpu\"]\n");
  const fs::path host = files.write(
      "host.toml", "python = \"/b\"\n[serve]\ndevice = \"fake\"\ndrain-s = 5\nstdio = true\n");
  const auto settings = Settings::load({user, files.missing(), host});
  REQUIRE(settings);
  CHECK(settings->read_files() == std::vector<fs::path>{user, host});
  CHECK(settings->install().at("python").texts == std::vector<std::string>{"/a"});
  const auto& serve = settings->commands().at("serve");
  CHECK(serve.at("device").texts == std::vector<std::string>{"cpu"});
  CHECK(serve.at("device").origin == user.string() + ":3");
  CHECK(serve.at("drain-s").texts == std::vector<std::string>{"5"});
  CHECK(serve.at("drain-s").origin == host.string() + ":4");
  CHECK(serve.at("stdio").texts == std::vector<std::string>{"true"});
}

TEST_CASE("a table in a table is a command of a command") {
  const Files files;
  const auto settings = Settings::load({files.write("a.toml", "[operators.lint]\njobs = 2\n")});
  REQUIRE(settings);
  CHECK(settings->commands().at("operators lint").count("jobs") == 1);
}

TEST_CASE("a wrong file is refused with its line and what is valid") {
  const std::string unknown = refusal("\npyhton = \"/a\"\n", ErrorCode::invalid_argument);
  CHECK(has(unknown, "a.toml:2"));
  for (const InstallSetting& setting : install_settings())
    CHECK(has(unknown, std::string(setting.key)));
  CHECK(has(refusal("[serve\n", ErrorCode::corrupt), "a.toml:1"));
  CHECK(has(refusal("[serve]\nhttp = 2026-01-01\n", ErrorCode::invalid_argument), "a.toml:2"));
  CHECK(has(refusal("python = [\"a\", \"b\"]\n", ErrorCode::invalid_argument), "`python`"));
}

TEST_CASE("a file sets a variable only if the environment does not") {
  const Files files;
  const auto settings = Settings::load(
      {files.write("a.toml", "cuda_toolkit = \"/file\"\nllm_base_url = \"http://file\"\n")});
  REQUIRE(settings);
  ::setenv("ASSAY_CUDA_TOOLKIT", "/environment", 1);
  ::unsetenv("ASSAY_LLM_BASE_URL");
  export_variables(*settings);
  CHECK(std::string(std::getenv("ASSAY_CUDA_TOOLKIT")) == "/environment");
  CHECK(std::string(std::getenv("ASSAY_LLM_BASE_URL")) == "http://file");
  ::unsetenv("ASSAY_CUDA_TOOLKIT");
  ::unsetenv("ASSAY_LLM_BASE_URL");
}

TEST_CASE("ASSAY_CONFIG names the only file, which must exist") {
  const Files files;
  ::setenv(kSettingsVariable, files.missing().c_str(), 1);
  CHECK(settings_places() == std::vector<fs::path>{files.missing()});
  const auto settings = Settings::load(settings_places());
  CHECK_FALSE(settings);
  ::unsetenv(kSettingsVariable);
  CHECK(settings_places().back() == fs::path("/etc/assay/assay.toml"));
}
