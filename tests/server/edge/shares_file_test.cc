#include "server/edge/shares_file.h"

#include <string>

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

}  // namespace assay::server
