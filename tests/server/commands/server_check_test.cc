#include "server/commands/server_check.h"

#include <map>
#include <string>

#include "server/app/exit_status.h"
#include "tests/catch.h"

namespace assay::server {
namespace {

using State = Finding::State;
constexpr std::int64_t kDayMs = 86'400'000;

std::map<std::string, State> states_of(const std::string& page, std::int64_t now_unix_ms) {
  std::map<std::string, State> states;
  for (const Finding& finding : check_metrics(page, now_unix_ms))
    states[finding.name] = finding.state;
  return states;
}

}  // namespace

TEST_CASE("server check: the state of a server by its metrics") {
  const std::string page =
      "assay_build_info{version=\"1\"} 1\nassay_time_seconds 1000\n"
      "assay_jobs_queued{device=\"cpu\"} 2\nassay_jobs_running{device=\"cpu\"} 1\n"
      "assay_store_writable 1\nassay_log_file_failures_total{file=\"audit\"} 0\n";
  for (const auto& [name, state] : states_of(page, 1'000'000)) CHECK(state == State::good);
  CHECK(states_of(page, 990'000).at("clock") == State::warning);
  CHECK(states_of(page, 1'006'000).at("clock") == State::warning);
  CHECK(states_of(page, 1'004'000).at("clock") == State::good);
  CHECK(states_of("assay_jobs_queued{device=\"cpu\"} 2\nassay_jobs_running{device=\"cpu\"} 0\n", 0)
            .at("queue") == State::warning);
  CHECK(states_of("assay_store_writable 0\n", 0).at("store") == State::problem);
  CHECK(states_of("assay_log_file_failures_total{file=\"audit\"} 3\n", 0).at("logs") ==
        State::warning);
  CHECK(states_of("assay_workers_quarantined{pool=\"a\"} 0\n", 0).count("workers") == 0);
  CHECK(states_of("assay_workers_quarantined{pool=\"a\"} 2\n", 0).at("workers") == State::warning);
  CHECK(states_of("assay_worker_problem{pool=\"a\",problem=\"not found\",engine=\"\"} 1\n", 0)
            .at("workers") == State::warning);
}

TEST_CASE("server check: a certificate") {
  const std::int64_t now = 100 * kDayMs;
  CHECK(check_certificate(now + 30 * kDayMs, "", now).state == State::good);
  CHECK(check_certificate(now + 13 * kDayMs, "", now).state == State::warning);
  CHECK(check_certificate(now - 1, "", now).state == State::problem);
  CHECK(check_certificate(now + 30 * kDayMs, "self-signed certificate", now).state ==
        State::problem);
}

TEST_CASE("server check: the URL of a server") {
  const auto plain = parse_server_url("http://[::1]:8080/mcp");
  REQUIRE(plain);
  CHECK(plain->base == "http://[::1]:8080");
  CHECK(plain->host == "::1");
  CHECK(plain->port == 8080);
  const auto secure = parse_server_url("https://assay.example.org");
  REQUIRE(secure);
  CHECK(secure->port == 443);
  CHECK(secure->tls);
  CHECK(parse_server_url("http://[::1]")->host == "::1");
}

TEST_CASE("server check: the exit status") {
  CHECK(status_of({{"a", State::good, ""}, {"b", State::warning, ""}}) == kPass);
  CHECK(status_of({{"a", State::no_credentials, ""}}) == kNoCredentials);
  CHECK(status_of({{"a", State::no_credentials, ""}, {"b", State::problem, ""}}) == kUnavailable);
}

}  // namespace assay::server
