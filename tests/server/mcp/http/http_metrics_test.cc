#include "server/mcp/http/http_metrics.h"

#include <ctime>
#include <sstream>
#include <string>

#include "tests/catch.h"

namespace assay::mcp {
namespace {

std::string text_of(const HttpMetrics& metrics, const MessageCounts& counts = {}) {
  MetricsText out;
  metrics.write(out, counts);
  return out.text();
}

bool has_line(const std::string& text, const std::string& line) {
  return text.find(line + "\n") != std::string::npos;
}

double value_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + name.size() + 2));
}

}  // namespace

TEST_CASE("metrics text: families, labels and numbers") {
  MetricsText out;
  out.family("a_total", "counter", "Counts.");
  out.sample("a_total", {{"x", "one"}, {"y", "a\"b\\c\nd"}}, 3);
  out.sample("a_total", {}, 0.1);
  out.gauge("b", "Big.", 1e18);
  CHECK(out.text() ==
        "# HELP a_total Counts.\n# TYPE a_total counter\n"
        "a_total{x=\"one\",y=\"a\\\"b\\\\c\\nd\"} 3\na_total 0.1\n"
        "# HELP b Big.\n# TYPE b gauge\nb 1e+18\n");
}

TEST_CASE("metrics: the histogram's buckets add up") {
  MessageCounts counts;
  for (const double seconds : {0.0005, 0.0006, 0.3, 24.0, 100.0})
    counts.add("ping", MessageCounts::Ending::ok, seconds);
  counts.add("tools/list", MessageCounts::Ending::ok, 0.001);
  const std::string text = text_of(HttpMetrics(), counts);
  CHECK(has_line(
      text,
      R"(assay_message_seconds_bucket{method="ping",le="0.0005"} 1)"));  // bounds are inclusive
  CHECK(has_line(text, R"(assay_message_seconds_bucket{method="ping",le="0.001"} 2)"));
  CHECK(has_line(text, R"(assay_message_seconds_bucket{method="ping",le="0.5"} 3)"));
  CHECK(has_line(text, R"(assay_message_seconds_bucket{method="ping",le="25.0"} 4)"));
  CHECK(has_line(text, R"(assay_message_seconds_bucket{method="ping",le="+Inf"} 5)"));
  CHECK(has_line(text, R"(assay_message_seconds_count{method="ping"} 5)"));
  CHECK(value_of(text, R"(assay_message_seconds_sum{method="ping"})") == Approx(124.3011));
}

TEST_CASE("metrics: responses by status, and the process's own figures") {
  HttpMetrics metrics;
  metrics.count_response(401);
  metrics.count_response(401);
  metrics.count_response(418);
  metrics.count_response(406);
  const std::string text = text_of(metrics);
  CHECK(has_line(text, R"(assay_http_responses_total{code="401"} 2)"));
  CHECK(has_line(text, R"(assay_http_responses_total{code="406"} 1)"));
  CHECK(has_line(text, R"(assay_http_responses_total{code="other"} 1)"));
  CHECK(value_of(text, "process_resident_memory_bytes") > 1e6);
  CHECK(value_of(text, "process_threads") >= 1);
  CHECK(value_of(text, "process_open_fds") >= 3);
  CHECK(value_of(text, "process_open_fds") <= value_of(text, "process_max_fds"));
  const double now = static_cast<double>(std::time(nullptr));
  CHECK(value_of(text, "process_start_time_seconds") + value_of(text, "assay_uptime_seconds") ==
        Approx(now).margin(5));
  CHECK(value_of(text, "process_cpu_seconds_total") >= 0);
  CHECK(value_of(text, "assay_uptime_seconds") >= 0);
  CHECK(value_of(text, "assay_uptime_seconds") < 3600);
}

TEST_CASE(
    "metrics: every line is a comment or a sample, every sample belongs to the family before it") {
  HttpMetrics metrics;
  MessageCounts counts;
  counts.add("ping", MessageCounts::Ending::ok, 0.1);
  std::istringstream lines(text_of(metrics, counts));
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    if (line.rfind("# TYPE ", 0) == 0) family = line.substr(7, line.find(' ', 7) - 7);
    if (line[0] == '#') continue;
    CHECK(line.rfind(family, 0) == 0);
    CHECK(line.find_last_of("0123456789") == line.size() - 1);
  }
}

}  // namespace assay::mcp
