#include "server/observe/observe_options.h"

#include <filesystem>

#include "base/text.h"

namespace assay::server {
namespace {

constexpr const char* kTracesPath = "/v1/traces";

std::string variable(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

bool is_web_url(const std::string& url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Reads headers in the form NAME=VALUE,NAME=VALUE. The error does not quote them, because they may
/// contain a secret.
Result<std::map<std::string, std::string>> headers_of(const std::string& text) {
  std::map<std::string, std::string> headers;
  for (const std::string& part : split(text, ",")) {
    const std::size_t equals = part.find('=');
    const std::string name = trimmed(part.substr(0, equals));
    if (equals == std::string::npos || name.empty())
      return fail(ErrorCode::invalid_argument,
                  "OTEL_EXPORTER_OTLP_HEADERS must be NAME=VALUE[,NAME=VALUE]");
    headers[name] = trimmed(part.substr(equals + 1));
  }
  return headers;
}

}  // namespace

void add_observe_options(CLI::App& command, ObserveFlags& flags) {
  command.add_option("--audit-log", flags.audit_log,
                     "append one line of JSON for each request, refusal and verdict to this file; "
                     "SIGHUP opens it again");
  command
      .add_option("--access-log", flags.access_log,
                  "append one line for each HTTP request to this file, in the format of "
                  "--log-format; -: to the log")
      ->needs(command.get_option("--http"));
  command.add_option("--otlp-endpoint", flags.otlp_endpoint,
                     "send traces to this OpenTelemetry collector, as OTLP/HTTP JSON to "
                     "URL/v1/traces (default: OTEL_EXPORTER_OTLP_ENDPOINT)");
}

std::vector<std::string> arguments_of(const ObserveFlags& flags) {
  std::vector<std::string> arguments;
  const auto path = [&](const char* name, const std::string& value) {
    if (!value.empty())
      arguments.insert(arguments.end(), {name, std::filesystem::absolute(value).string()});
  };
  path("--audit-log", flags.audit_log);
  if (!flags.otlp_endpoint.empty())
    arguments.insert(arguments.end(), {"--otlp-endpoint", flags.otlp_endpoint});
  return arguments;
}

Result<TraceTarget> trace_target(const ObserveFlags& flags, const Environment& environment) {
  TraceTarget target;
  if (lower_case(variable(environment, "OTEL_SDK_DISABLED")) == "true" &&
      flags.otlp_endpoint.empty())
    return target;
  std::string base = flags.otlp_endpoint;
  std::string from = "--otlp-endpoint";
  if (base.empty()) {
    from = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    target.url = variable(environment, from.c_str());  // the whole URL
  }
  if (base.empty() && target.url.empty()) {
    from = "OTEL_EXPORTER_OTLP_ENDPOINT";
    base = variable(environment, from.c_str());
  }
  if (!base.empty()) {
    while (base.ends_with('/')) base.pop_back();
    target.url = base + kTracesPath;
  }
  if (target.url.empty()) return target;
  if (!is_web_url(target.url))
    return fail(ErrorCode::invalid_argument,
                from + " must be a URL that begins with http:// or https://");
  ASSAY_TRY(headers, headers_of(variable(environment, "OTEL_EXPORTER_OTLP_HEADERS")));
  target.headers = std::move(headers);
  const std::string service = variable(environment, "OTEL_SERVICE_NAME");
  if (!service.empty()) target.service = service;
  return target;
}

}  // namespace assay::server
