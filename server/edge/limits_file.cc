#include "server/edge/limits_file.h"

#include <toml++/toml.h>

#include <array>
#include <optional>
#include <vector>

#include "base/text.h"

namespace assay::server {
namespace {

// The size of a burst, in seconds. After a pause, a client may send at once as many requests as the
// rate limit allows in this time.
constexpr double kBurstSeconds = 4;
constexpr double kMostRate = 1e6;
constexpr int kMostPlaces = 16'384;
// Threads for short requests, besides those of calls, listeners and uploads.
constexpr int kSpareThreads = 256;
constexpr const char* kRate = "rate_limit";

struct PlaceField {
  std::string_view name;
  int mcp::HttpOptions::*member;
};
constexpr std::array kPlaces{
    PlaceField{"max_calls", &mcp::HttpOptions::max_calls},
    PlaceField{"principal_calls", &mcp::HttpOptions::principal_calls},
    PlaceField{"max_listeners", &mcp::HttpOptions::max_listeners},
    PlaceField{"principal_listeners", &mcp::HttpOptions::principal_listeners},
    PlaceField{"max_uploads", &mcp::HttpOptions::max_uploads},
    PlaceField{"principal_uploads", &mcp::HttpOptions::principal_uploads}};

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::invalid_argument, what);
}

Status set_limit(mcp::HttpOptions& options, std::string_view name, const toml::node& value) {
  if (name == kRate) {
    const std::optional<double> rate = value.value<double>();
    if (!value.is_number() || !rate || !(*rate >= 0) || *rate > kMostRate)
      return wrong("`rate_limit` must be a number of requests a second from 0 (no limit) to " +
                   std::to_string(static_cast<int>(kMostRate)));
    options.rate_limit = rate_limit_of(*rate);
    return {};
  }
  for (const PlaceField& field : kPlaces) {
    if (field.name != name) continue;
    const std::optional<std::int64_t> places = value.value_exact<std::int64_t>();
    if (!places || *places < 1 || *places > kMostPlaces)
      return wrong("`" + std::string(name) + "` must be an integer from 1 to " +
                   std::to_string(kMostPlaces));
    options.*field.member = static_cast<int>(*places);
    return {};
  }
  return wrong("unknown limit `" + std::string(name) + "`; valid: " + kRate + ", " +
               join(kPlaces, ", ", &PlaceField::name));
}

}  // namespace

RateLimit rate_limit_of(double per_second) { return {per_second, per_second * kBurstSeconds}; }

int threads_for(const mcp::HttpOptions& options) {
  return options.max_calls + options.max_listeners + options.max_uploads + kSpareThreads;
}

Result<mcp::HttpOptions> with_limits(std::string_view text, mcp::HttpOptions options) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return wrong("line " + std::to_string(error.source().begin.line) + ": " +
                 std::string(error.description()));
  }
  for (const auto& [name, value] : document)
    ASSAY_RETURN_IF_ERROR(set_limit(options, name.str(), value));
  return options;
}

}  // namespace assay::server
