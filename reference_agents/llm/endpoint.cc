#include "reference_agents/llm/endpoint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "reference_agents/llm/json_fields.h"

namespace assay::agents {
namespace {

constexpr std::size_t kShownBodyCharacters = 300;
constexpr std::size_t kShortestSecret = 12;  // the least length of a secret key, in characters

/// Replaces the API key in `text` by "[key]", because some providers quote the key in their error
/// messages.
std::string redacted(std::string text, const std::string& key) {
  if (key.empty()) return text;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
    text.replace(at, key.size(), "[key]");
  return text;
}

/// Returns `text` as one line of printable text. `text` is the body of an error response, which can
/// be an HTML page or binary data.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (line.size() >= kShownBodyCharacters) return line + "...";
    if (byte >= 0x20 && byte < 0x7f) {
      line += character;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

/// Returns `text` without the key and cut to one line. The key is removed before the text is cut,
/// because otherwise the beginning of the key could remain at the end of the line.
std::string shown(const Endpoint& endpoint, const std::string& text) {
  return one_line(redacted(text, endpoint.api_key));
}

/// Returns the provider's error message in an answer of one of three forms: {"error": {"message":
/// ...}}, {"error": "..."} or {"message": "..."}. Returns "" for an answer of another form.
std::string words_of(const nlohmann::json& answer) {
  for (const std::string& text : {string_field(answer, "error", "message"),
                                  string_field(answer, "error"), string_field(answer, "message")}) {
    if (!text.empty()) return text;
  }
  return "";
}

/// Returns the provider's error message, or the whole body if there is none.
std::string message_of(const std::string& body) {
  const std::string words = words_of(nlohmann::json::parse(body, nullptr, false));
  return words.empty() ? body : words;
}

/// Returns true if an error message is about money. The status alone does not show this, because
/// some providers answer with status 400 if the account is empty.
bool is_about_the_account(const std::string& message) {
  constexpr std::array<std::string_view, 3> kWords = {"credit balance", "billing", "quota"};
  std::string lower = message;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  return std::any_of(kWords.begin(), kWords.end(), [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  });
}

ErrorCode code_of(int status, const std::string& message) {
  if (status == 404) return ErrorCode::not_found;
  if (status == 408 || status >= 500) return ErrorCode::unavailable;
  // With these statuses the endpoint refuses this prompt. Usually the prompt is too long, or a
  // filter matches it. Another prompt can succeed.
  const bool of_this_prompt = status == 400 || status == 413 || status == 422;
  if (status == 429 || (of_this_prompt && is_about_the_account(message)))
    return ErrorCode::resource_exhausted;
  return of_this_prompt ? ErrorCode::invalid_argument : ErrorCode::permission_denied;
}

std::string host_of(const std::string& url) {
  std::size_t begin = url.find("://");
  begin = begin == std::string::npos ? 0 : begin + 3;
  std::string authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  if (!authority.empty() && authority.front() == '[')
    return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

Status check_endpoint(const Endpoint& endpoint) {
  const bool plain = endpoint.base_url.starts_with("http://");
  const std::string host = host_of(endpoint.base_url);
  if ((!plain && !endpoint.base_url.starts_with("https://")) || host.empty() ||
      host.find('@') != std::string::npos ||
      endpoint.base_url.find_first_of("?#") != std::string::npos) {
    return fail(
        ErrorCode::invalid_argument,
        "'" + endpoint.base_url +
            "' is no base URL; a valid one looks like http://localhost:8000/v1 or https://host/v1");
  }
  const bool printable = std::all_of(endpoint.api_key.begin(), endpoint.api_key.end(),
                                     [](unsigned char byte) { return byte > 0x20 && byte < 0x7f; });
  if (!printable)
    return fail(ErrorCode::permission_denied,
                "the API key of provider '" + endpoint.provider +
                    "' holds spaces, line ends or non-ASCII characters");
  if (plain && !endpoint.api_key.empty() && !is_this_machine(host)) {
    return fail(ErrorCode::invalid_argument, "refusing to send an API key in clear to " + host +
                                                 "; use https://, or unset the key");
  }
  return {};
}

Result<nlohmann::json> post_json(const Endpoint& endpoint, const std::string& path,
                                 const std::map<std::string, std::string>& headers,
                                 const nlohmann::json& body, const PostOptions& options) {
  const std::string url = endpoint.base_url + path;
  // The handler `replace` is needed because a spec or an earlier reply can contain invalid UTF-8.
  // Without the handler, dump() would throw.
  const std::string payload = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  RetryHooks hooks;
  hooks.defect = [&](const mcp::HttpResponse& response) -> std::string {
    const nlohmann::json answer = nlohmann::json::parse(response.body, nullptr, false);
    if (answer.is_discarded() || !answer.is_object()) return "the answer is not a JSON object";
    return options.is_reply && !options.is_reply(answer) ? "the answer is not a reply" : "";
  };
  if (options.notice)
    hooks.notice = [&](const std::string& text) { options.notice(shown(endpoint, text)); };
  const Result<mcp::HttpResponse> response = post_with_retries(
      [&] {
        return mcp::http_post(url, headers, payload, "application/json",
                              endpoint.policy.request_timeout_ms, endpoint.max_answer_bytes);
      },
      endpoint.policy, endpoint.clock, hooks);
  if (!response) {
    // An error of the connection becomes `unavailable`. Its own code may be invalid_argument, which
    // would mean that the endpoint refused the prompt.
    const bool of_the_connection = response.error().code == ErrorCode::io ||
                                   response.error().code == ErrorCode::invalid_argument;
    const ErrorCode code = of_the_connection ? ErrorCode::unavailable : response.error().code;
    return fail(code, endpoint.provider + ": no answer from " + url + ": " +
                          shown(endpoint, response.error().message));
  }
  if (response->status != 200) {
    const std::string message = message_of(response->body);
    return fail(code_of(response->status, message),
                endpoint.provider + ": HTTP " + std::to_string(response->status) + " for model '" +
                    endpoint.model + "': " + shown(endpoint, message));
  }
  nlohmann::json parsed = nlohmann::json::parse(response->body, nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object()) {
    return fail(ErrorCode::corrupt,
                endpoint.provider + ": the answer from " + url +
                    " is not a JSON object: " + shown(endpoint, response->body));
  }
  return parsed;
}

tl::unexpected<Error> unusable(const Endpoint& endpoint, const std::string& what,
                               const nlohmann::json& answer) {
  const std::string words = words_of(answer);
  return fail(ErrorCode::corrupt, endpoint.provider + ": " + what +
                                      (words.empty() ? "" : ": " + shown(endpoint, words)));
}

std::string reply_text(const Endpoint& endpoint, std::string text) {
  return endpoint.api_key.size() < kShortestSecret ? text
                                                   : redacted(std::move(text), endpoint.api_key);
}

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

/// Returns a random pause before a retry, in milliseconds. It is between 0 and a maximum that
/// doubles with each retry. It is random, so that clients that were refused at the same time do not
/// retry at the same time.
std::int64_t pause_ms(const RetryPolicy& policy, int retry, const RetryClock& clock) {
  const double ceiling =
      std::min(static_cast<double>(policy.longest_pause_ms),
               static_cast<double>(policy.first_pause_ms) * std::pow(2.0, retry));
  return static_cast<std::int64_t>(ceiling * clock.uniform());
}

/// Returns a text such as "try 3 of 6 in 1.5 s: HTTP 503: overloaded".
std::string notice_of(const Result<mcp::HttpResponse>& response, const std::string& defect,
                      int next, const RetryPolicy& policy, std::int64_t pause) {
  char start[64];
  std::snprintf(start, sizeof(start), "try %d of %d in %.1f s: ", next, policy.attempts,
                static_cast<double>(pause) / 1e3);
  if (!response) return start + response.error().message;
  if (!defect.empty()) return start + defect;
  return start + ("HTTP " + std::to_string(response->status)) + ": " + message_of(response->body);
}

}  // namespace

RetryClock RetryClock::real() {
  RetryClock clock;
  clock.sleep_ms = [](std::int64_t ms) { system_clock().pause(std::chrono::milliseconds(ms)); };
  clock.uniform = [] {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
  };
  clock.unix_ms = [] { return system_clock().unix_ms(); };
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
                                            const RetryPolicy& policy, const RetryClock& clock,
                                            const RetryHooks& hooks) {
  for (int attempt = 1;; ++attempt) {
    Result<mcp::HttpResponse> response = send();
    const std::string defect =
        response && response->status == 200 && hooks.defect ? hooks.defect(*response) : "";
    const bool again = !defect.empty() || (response ? worth_retrying(response->status)
                                                    : worth_retrying(response.error()));
    if (!again || attempt >= policy.attempts) return response;
    std::int64_t pause = pause_ms(policy, attempt - 1, clock);
    if (response) {
      const std::optional<std::int64_t> asked = retry_after_ms(*response, clock);
      if (asked && *asked > policy.longest_retry_after_ms) return response;
      // A random time is added, because clients that were refused at the same time got the same
      // Retry-After and would otherwise retry at the same time.
      if (asked)
        pause = std::max(
            pause, *asked + static_cast<std::int64_t>(static_cast<double>(policy.first_pause_ms) *
                                                      clock.uniform()));
    }
    if (hooks.notice) hooks.notice(notice_of(response, defect, attempt + 1, policy, pause));
    clock.sleep_ms(pause);
  }
}

}  // namespace assay::agents
