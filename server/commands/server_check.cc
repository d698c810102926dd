#include "server/commands/server_check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/json.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "server/app/exit_status.h"
#include "server/mcp/client/certificate.h"
#include "server/mcp/client/http_client.h"
#include "server/mcp/protocol/protocol.h"
#include "tools/model/principal.h"

namespace assay::server {
namespace {

using nlohmann::json;
using State = Finding::State;

constexpr std::int64_t kTimeoutMs = 10'000;
constexpr std::int64_t kMsPerDay = 86'400'000;
constexpr std::int64_t kSoonDays = 14;       // a certificate that ends earlier should be renewed
constexpr double kMostClockSeconds = 5;      // a larger difference of two clocks is no delay
constexpr std::size_t kMaxQuoteBytes = 120;  // of a text that the server sent
constexpr int kHttpsPort = 443, kHttpPort = 80, kMostPort = 65535;

/// Returns a text of the server in a form that can be shown.
std::string remote_text(const std::string& text) {
  return cut_end(escape_text(text), kMaxQuoteBytes);
}

class RemoteServer {
 public:
  RemoteServer(const ServerUrl& url, const std::string& token, const Clock& clock)
      : base_(url.base), token_(token), clock_(clock) {}

  Result<mcp::HttpResponse> get(const std::string& path) const {
    mcp::HttpExchange exchange;
    exchange.method = "GET";
    exchange.headers = headers();
    exchange.timeout_ms = kTimeoutMs;
    return mcp::http_exchange(base_ + path, exchange, clock_);
  }

  /// Sends a request of the newest revision.
  Result<mcp::HttpResponse> call(const std::string& method, json params,
                                 const std::string& name = "") const {
    params["_meta"] = {{mcp::kMetaVersion, mcp::kStatelessVersion},
                       {mcp::kMetaClientCapabilities, json::object()},
                       {mcp::kMetaClientInfo, {{"name", "assay doctor"}, {"version", "1"}}}};
    const json message = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    mcp::HttpExchange exchange;
    exchange.headers = headers();
    exchange.headers["Accept"] = "application/json, text/event-stream";
    exchange.headers[mcp::kHeaderVersion] = mcp::kStatelessVersion;
    exchange.headers[mcp::kHeaderMethod] = method;
    if (!name.empty()) exchange.headers[mcp::kHeaderName] = name;
    exchange.body = message.dump();
    exchange.content_type = "application/json";
    exchange.timeout_ms = kTimeoutMs;
    return mcp::http_exchange(base_ + "/mcp", exchange, clock_);
  }

 private:
  std::map<std::string, std::string> headers() const {
    std::map<std::string, std::string> all;
    if (!token_.empty()) all["Authorization"] = "Bearer " + token_;
    return all;
  }

  const std::string base_, token_;
  const Clock& clock_;
};

std::string answered(const mcp::HttpResponse& answer) {
  return "the server answered with status " + std::to_string(answer.status);
}

Finding check_reach(const RemoteServer& server) {
  const auto answer = server.get("/healthz");
  if (!answer)
    return {"reach", State::problem, answer.error().message,
            "see whether the server runs, and whether a firewall or a proxy is in between"};
  const json said = json::parse(answer->body, nullptr, false);
  const std::string status =
      said.is_object() && said.contains("status") && said["status"].is_string()
          ? said["status"].get<std::string>()
          : "";
  if (answer->status == 200 && status == "ok") return {"reach", State::good, "the server answers"};
  if (status == "draining")
    return {"reach", State::warning, "the server is stopping and accepts no new jobs",
            "try again when the next server runs"};
  if (answer->status == 403)
    return {"reach", State::problem, "the server does not know this name of itself",
            "start it with --allow-host and the host of the URL"};
  return {"reach", State::problem, answered(*answer) + " and is perhaps no server of Assay",
          "check the host and the port; GET /healthz must reach `assay serve --http`"};
}

Finding check_token(const RemoteServer& server, bool has_token) {
  const auto answer = server.get("/whoami");
  if (!answer) return {"token", State::problem, answer.error().message, "try again"};
  if (answer->status == 401)
    return {"token", State::no_credentials,
            has_token ? "the server does not know the token" : "the server needs a token",
            has_token ? "ask the operator for a new token; a token ends when its line is removed"
                      : "pass --token, or set ASSAY_TOKEN"};
  if (answer->status == 404)
    return {"token", State::warning, "the server cannot say what the token permits",
            "the server is older than this program"};
  const json said = json::parse(answer->body, nullptr, false);
  if (answer->status != 200 || !said.is_object() || !said.contains("scopes"))
    return {"token", State::problem, answered(*answer), "look at the server's log"};
  if (!said["scopes"].is_array())
    return {"token", State::good, "the server has no tokens, so every client may do everything"};
  std::vector<std::string> scopes;
  for (const json& scope : said["scopes"]) {
    if (scope.is_string()) scopes.push_back(remote_text(scope.get<std::string>()));
  }
  const std::string name =
      said["name"].is_string() ? remote_text(said["name"].get<std::string>()) : "";
  Finding finding{"token", State::good, "'" + name + "' with the scopes " + join(scopes)};
  if (std::find(scopes.begin(), scopes.end(), tools::kScopeScore) == scopes.end()) {
    finding.state = State::warning;
    finding.advice = "it permits only practice; scored runs need a token with the scope score";
  }
  return finding;
}

/// Returns the member `result` of the answer, or the finding about its absence.
std::optional<json> result_of(const Result<mcp::HttpResponse>& answer, Finding& finding) {
  finding.state = State::problem;
  finding.advice = "look at the server's log";
  if (!answer) {
    finding.text = answer.error().message;
    return std::nullopt;
  }
  const json said = json::parse(answer->body, nullptr, false);
  if (said.is_object() && said.contains("result") && said["result"].is_object())
    return said["result"];
  finding.text = answered(*answer);
  if (answer->status == 429 || answer->status == 503)
    finding.advice = "a limit of the server is reached; try again in some seconds";
  return std::nullopt;
}

Finding check_protocol(const RemoteServer& server) {
  Finding finding{"protocol", State::problem, "", ""};
  const auto result = result_of(server.call("server/discover", json::object()), finding);
  if (!result) return finding;
  std::vector<std::string> versions;
  for (const json& version : result->value("supportedVersions", json::array())) {
    if (version.is_string()) versions.push_back(remote_text(version.get<std::string>()));
  }
  finding.text = "MCP " + join(versions);
  if (std::find(versions.begin(), versions.end(), mcp::kStatelessVersion) == versions.end()) {
    finding.advice = "this program speaks " + std::string(mcp::kStatelessVersion) +
                     "; use a server and a client of the same version";
    return finding;
  }
  return {"protocol", State::good, finding.text};
}

Finding check_tool(const RemoteServer& server) {
  Finding finding{"tool", State::problem, "", ""};
  const auto result = result_of(
      server.call("tools/call", {{"name", "list_operators"}, {"arguments", json::object()}},
                  "list_operators"),
      finding);
  if (!result) return finding;
  if (result->value("isError", false)) {
    finding.text = "list_operators answered with an error";
    return finding;
  }
  return {"tool", State::good, "list_operators works"};
}

struct Sample {
  std::string labels;  // as the page has them, without braces
  double value = 0;
};

/// Returns the samples of a metric on a page in Prometheus' text format.
std::vector<Sample> samples_of(const std::string& page, const std::string& name) {
  std::vector<Sample> found;
  for (const std::string& line : split(page, "\n")) {
    if (!line.starts_with(name)) continue;
    const std::string rest = line.substr(name.size());
    const std::size_t end = rest.rfind(' ');
    if (rest.empty() || end == std::string::npos || (rest[0] != ' ' && rest[0] != '{')) continue;
    found.push_back(
        {rest[0] == '{' ? rest.substr(1, end - 2) : "", std::strtod(rest.c_str() + end, nullptr)});
  }
  return found;
}

std::string clock_text(double seconds) { return std::to_string(std::llround(seconds)) + " s"; }

Finding check_clock(double server_seconds, std::int64_t now_unix_ms) {
  const double difference = server_seconds - static_cast<double>(now_unix_ms) / 1000;
  if (std::abs(difference) <= kMostClockSeconds)
    return {"clock", State::good, "the server's clock agrees with the clock of this machine"};
  return {"clock", State::warning,
          "the server's clock is " + clock_text(std::abs(difference)) +
              (difference > 0 ? " ahead" : " behind"),
          "synchronise both clocks; runs and tokens end by the clock of the server"};
}

Finding check_queues(const std::string& page) {
  std::map<std::string, double> running;
  for (const Sample& sample : samples_of(page, "assay_jobs_running"))
    running[sample.labels] = sample.value;
  std::vector<std::string> texts;
  bool stuck = false;
  for (const Sample& sample : samples_of(page, "assay_jobs_queued")) {
    stuck = stuck || (sample.value > 0 && running[sample.labels] == 0);
    texts.push_back(remote_text(sample.labels) + ": " + std::to_string(std::llround(sample.value)) +
                    " queued, " + std::to_string(std::llround(running[sample.labels])) +
                    " running");
  }
  if (stuck)
    return {"queue", State::warning, join(texts),
            "jobs wait although none runs; look again in a minute, then at the server's log"};
  return {"queue", State::good, join(texts)};
}

std::vector<Finding> check_state(const RemoteServer& server, const Clock& clock) {
  const auto answer = server.get("/metrics");
  if (!answer || answer->status != 200)
    return {{"metrics", State::problem, answer ? answered(*answer) : answer.error().message,
             "look at the server's log"}};
  return check_metrics(answer->body, clock.unix_ms());
}

}  // namespace

Result<ServerUrl> parse_server_url(const std::string& text) {
  const auto wrong = [] {
    return fail(ErrorCode::invalid_argument,
                "--url must be like https://assay.example.org:8443/mcp, without a user name");
  };
  ServerUrl url;
  url.tls = text.starts_with("https://");
  if (!url.tls && !text.starts_with("http://")) return wrong();
  std::string rest = text.substr(url.tls ? 8 : 7);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string path = rest.substr(slash);
  if (!path.empty() && path != "/" && path != "/mcp" && path != "/mcp/") return wrong();
  rest.resize(slash);
  if (rest.find_first_of("@?# \\") != std::string::npos) return wrong();
  url.base = (url.tls ? "https://" : "http://") + rest;
  url.port = url.tls ? kHttpsPort : kHttpPort;
  const std::size_t colon = rest.rfind(':');
  if (colon != std::string::npos && rest.find(']', colon) == std::string::npos) {
    const char* end = rest.data() + rest.size();
    const auto [stopped, error] = std::from_chars(rest.data() + colon + 1, end, url.port);
    if (error != std::errc() || stopped != end || url.port < 1 || url.port > kMostPort)
      return wrong();
    rest.resize(colon);
  }
  if (rest.size() > 2 && rest.front() == '[' && rest.back() == ']')
    rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) return wrong();
  url.host = rest;
  return url;
}

Finding check_certificate(std::int64_t expires_unix_ms, const std::string& problem,
                          std::int64_t now_unix_ms) {
  const std::string until = "valid until " + iso_time(expires_unix_ms);
  const std::int64_t days = (expires_unix_ms - now_unix_ms) / kMsPerDay;
  if (expires_unix_ms < now_unix_ms)
    return {"certificate", State::problem, "it ended at " + iso_time(expires_unix_ms),
            "renew it, and send SIGHUP to the server"};
  if (!problem.empty())
    return {"certificate", State::problem, problem + "; " + until,
            "use a certificate for the host of the URL from an issuer that this machine trusts"};
  if (days < kSoonDays)
    return {"certificate", State::warning, until + " (" + std::to_string(days) + " days)",
            "renew it, and send SIGHUP to the server"};
  return {"certificate", State::good, until};
}

std::vector<Finding> check_metrics(const std::string& page, std::int64_t now_unix_ms) {
  std::vector<Finding> findings;
  for (const Sample& sample : samples_of(page, "assay_build_info"))
    findings.push_back({"version", State::good, remote_text(sample.labels)});
  for (const Sample& sample : samples_of(page, "assay_time_seconds"))
    findings.push_back(check_clock(sample.value, now_unix_ms));
  findings.push_back(check_queues(page));
  for (const Sample& sample : samples_of(page, "assay_store_writable")) {
    if (sample.value == 0)
      findings.push_back({"store", State::problem, "the server cannot write its store",
                          "see whether its disk is full; the server accepts no jobs until then"});
    else
      findings.push_back({"store", State::good, "the server can write its store"});
  }
  for (const Sample& sample : samples_of(page, "assay_workers_quarantined")) {
    if (sample.value > 0)
      findings.push_back({"workers", State::warning,
                          "machines are in quarantine, " + remote_text(sample.labels),
                          "the server's log says why"});
  }
  for (const Sample& sample : samples_of(page, "assay_worker_problem"))
    findings.push_back({"workers", State::warning,
                        "the last trouble of a pool: " + remote_text(sample.labels),
                        "`assay doctor --workers FILE`, on the server's machine, starts a worker"});
  double lost = 0;
  for (const Sample& sample : samples_of(page, "assay_log_file_failures_total"))
    lost += sample.value;
  if (lost > 0)
    findings.push_back({"logs", State::warning,
                        std::to_string(std::llround(lost)) + " lines of log files are lost",
                        "look at the server's log and at the disk"});
  return findings;
}

std::vector<Finding> check_server(const ServerUrl& url, const std::string& token,
                                  const Clock& clock) {
  const RemoteServer server(url, token, clock);
  std::vector<Finding> findings;
  if (url.tls) {
    const auto facts = mcp::server_certificate(url.host, url.port, kTimeoutMs);
    findings.push_back(
        facts ? check_certificate(facts->expires_unix_ms, facts->problem, clock.unix_ms())
              : Finding{"certificate", State::problem, facts.error().message,
                        "see whether the server was started with --tls-cert"});
  } else if (!token.empty() && !url.host.starts_with("127.") && url.host != "localhost" &&
             url.host != "::1") {
    // This check sends nothing, because the network would carry the token in clear text.
    return {{"certificate", State::problem, "the URL is http, and the token would be readable",
             "use https, or leave --token out"}};
  }
  findings.push_back(check_reach(server));
  if (findings.back().state == State::problem) return findings;
  findings.push_back(check_token(server, !token.empty()));
  if (findings.back().state == State::no_credentials) return findings;
  findings.push_back(check_protocol(server));
  for (Finding& finding : check_state(server, clock)) findings.push_back(std::move(finding));
  findings.push_back(check_tool(server));
  return findings;
}

int status_of(const std::vector<Finding>& findings) {
  const auto has = [&](State state) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.state == state; });
  };
  if (has(State::problem)) return kUnavailable;
  return has(State::no_credentials) ? kNoCredentials : kPass;
}

}  // namespace assay::server
