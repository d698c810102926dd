#include "reference_agents/llm/retry.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <thread>

namespace assay::agents {
namespace {

bool worth_retrying(int status) { return status == 408 || status == 429 || status >= 500; }

bool worth_retrying(const Error& error) {
  return error.code == ErrorCode::io || error.code == ErrorCode::unavailable;
}

std::optional<std::int64_t> retry_after_ms(const mcp::HttpResponse& response,
                                           const RetryClock& clock) {
  const auto header = response.headers.find("retry-after");
  if (header == response.headers.end()) return std::nullopt;
  return parse_retry_after(header->second, clock.unix_ms());
}

/// Full jitter: many clients that were refused together must not come back together.
std::int64_t pause_ms(const RetryPolicy& policy, int retry, const RetryClock& clock) {
  const double ceiling =
      std::min(static_cast<double>(policy.longest_pause_ms),
               static_cast<double>(policy.first_pause_ms) * std::pow(2.0, retry));
  return static_cast<std::int64_t>(ceiling * clock.uniform());
}

}  // namespace

RetryClock RetryClock::real() {
  RetryClock clock;
  clock.sleep_ms = [](std::int64_t ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  };
  clock.uniform = [] {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
  clock.unix_ms = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  return clock;
}

std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t now_unix_ms) {
  constexpr double kMostSeconds = 1e9;
  double seconds = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (parsed.ec == std::errc() && parsed.ptr == value.data() + value.size()) {
    if (!(seconds >= 0 && seconds <= kMostSeconds)) return std::nullopt;
    return static_cast<std::int64_t>(std::ceil(seconds * 1000));
  }
  std::tm date{};
  const std::string text(value);
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::int64_t at_ms = static_cast<std::int64_t>(::timegm(&date)) * 1000;
  return std::max<std::int64_t>(0, at_ms - now_unix_ms);
}

Result<mcp::HttpResponse> post_with_retries(const std::function<Result<mcp::HttpResponse>()>& send,
                                            const RetryPolicy& policy, const RetryClock& clock) {
  for (int attempt = 1;; ++attempt) {
    Result<mcp::HttpResponse> response = send();
    const bool again =
        response ? worth_retrying(response->status) : worth_retrying(response.error());
    if (!again || attempt >= policy.attempts) return response;
    std::int64_t pause = pause_ms(policy, attempt - 1, clock);
    if (response) {
      const std::optional<std::int64_t> asked = retry_after_ms(*response, clock);
      if (asked && *asked > policy.longest_retry_after_ms) return response;
      // Everybody who was refused together was told the same.
      if (asked)
        pause = std::max(
            pause, *asked + static_cast<std::int64_t>(static_cast<double>(policy.first_pause_ms) *
                                                      clock.uniform()));
    }
    clock.sleep_ms(pause);
  }
}

}  // namespace assay::agents
