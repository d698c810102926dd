#include "server/edge/shares_file.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/handle.h"
#include "tests/catch.h"

namespace assay::server {

TEST_CASE("a file of shares is read") {
  const Result<ShareSettings> read = parse_shares(R"(
reserve = 0.25
each_token = { running = 16 }

[token.trainer]
weight = 0.5
queued = 400

[run.run_a]
weight = 3
running = 2
)");
  REQUIRE(read);
  CHECK(read->reserve == 0.25);
  CHECK(read->token("trainer").weight == 0.5);
  CHECK(read->token("trainer").queued == 400);
  CHECK_FALSE(read->token("trainer").running);
  CHECK(read->token("alice").running == 16);
  CHECK_FALSE(read->token("").running);
  CHECK(read->run("run_a").weight == 3);
  CHECK(read->run("run_b").weight == 1);
}

TEST_CASE("a file of shares that cannot be used names what is valid") {
  for (const auto& [text, word] : {
           std::pair{"reserve = 1", "from 0 to 0.9"},
           std::pair{"reserve = \"much\"", "from 0 to 0.9"},
           std::pair{"colour = 1", "valid: reserve, each_token, each_run, token.NAME, run.HANDLE"},
           std::pair{"token.a.weight = 0", "`token.a.weight` must be a number from 0.001 to 1000"},
           std::pair{"token.a.jobs = 0", "valid: weight, queued, running"},
           std::pair{"run.a.running = 0", "`run.a.running` must be a number of jobs from 1"},
           std::pair{"each_run = 3", "`each_run` must be a table"},
           std::pair{"token = 3", "`token` must be a table of tables"},
           std::pair{"reserve = ", "line 1"},
       }) {
    const Result<ShareSettings> read = parse_shares(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::invalid_argument);
    CHECK(read.error().message.find(word) != std::string::npos);
  }
  CHECK(read_shares("/no/such/file").error().code == ErrorCode::not_found);
}

TEST_CASE("a file of shares that cannot be read, or that is empty, is an error") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / new_handle("shares");
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "shares.toml").string();
  const auto code_of = [&](const std::string& text) {
    std::ofstream(file) << text;
    const Result<ShareSettings> read = read_shares(file);
    return read ? std::optional<ErrorCode>() : read.error().code;
  };
  CHECK(read_shares(folder.string()).error().code == ErrorCode::not_found);
  CHECK(code_of("") == ErrorCode::corrupt);
  CHECK(code_of(" \r\n\t\n") == ErrorCode::corrupt);
  CHECK(code_of("reserve = 2\n") == ErrorCode::invalid_argument);
  CHECK(code_of("reserve = 0\n") == std::nullopt);
  const std::string comment(static_cast<std::size_t>(kMaxSharesFileBytes) - 1, '#');
  CHECK(code_of(comment + "\n") == std::nullopt);
  CHECK(code_of(comment + "#\n") == ErrorCode::corrupt);
  std::filesystem::remove_all(folder);
}

}  // namespace assay::server
