#include "server/observe/observe_options.h"

#include <map>
#include <string>

#include "tests/catch.h"

namespace assay::server {
namespace {

Environment environment_of(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

}  // namespace

TEST_CASE("trace target: the option comes before the environment") {
  const auto none = trace_target({}, environment_of({}));
  REQUIRE(none);
  CHECK(none->url.empty());
  const Environment set = environment_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"},
                                          {"OTEL_SERVICE_NAME", "team"},
                                          {"OTEL_EXPORTER_OTLP_HEADERS", "a=1, b = x=y "}});
  const auto from_environment = trace_target({}, set);
  REQUIRE(from_environment);
  CHECK(from_environment->url == "http://c:4318/v1/traces");
  CHECK(from_environment->service == "team");
  CHECK(from_environment->headers == std::map<std::string, std::string>{{"a", "1"}, {"b", "x=y"}});
  const auto from_option = trace_target({.otlp_endpoint = "https://d/base"}, set);
  REQUIRE(from_option);
  CHECK(from_option->url == "https://d/base/v1/traces");
}

TEST_CASE("trace target: the URL for traces alone is used as it is") {
  const auto target = trace_target(
      {}, environment_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"},
                          {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1/spans"}}));
  REQUIRE(target);
  CHECK(target->url == "http://t:1/spans");
}

TEST_CASE("trace target: the environment can switch traces off") {
  const auto target =
      trace_target({}, environment_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"},
                                       {"OTEL_SDK_DISABLED", "TRUE"}}));
  REQUIRE(target);
  CHECK(target->url.empty());
}

TEST_CASE("trace target: errors name the setting, and never quote a header") {
  const auto url = trace_target({.otlp_endpoint = "c:4318"}, environment_of({}));
  CHECK(url.error().message.find("--otlp-endpoint") != std::string::npos);
  const auto headers = trace_target({.otlp_endpoint = "http://c"},
                                    environment_of({{"OTEL_EXPORTER_OTLP_HEADERS", "api-secret"}}));
  CHECK(headers.error().message.find("OTEL_EXPORTER_OTLP_HEADERS") != std::string::npos);
  CHECK(headers.error().message.find("api-secret") == std::string::npos);
}

TEST_CASE("observe options: as arguments") {
  CHECK(arguments_of(ObserveFlags()).empty());
  CHECK(arguments_of(ObserveFlags{.audit_log = "/a", .otlp_endpoint = "http://c"}) ==
        std::vector<std::string>{"--audit-log", "/a", "--otlp-endpoint", "http://c"});
}

}  // namespace assay::server
