#include "server/mcp/http/http_request.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace assay::mcp {
namespace {

constexpr std::string_view kLineBreak = "\r\n";
constexpr std::string_view kBlankLine = "\r\n\r\n";
constexpr std::size_t kMaxMethodBytes = 16;

ParsedHead refuse(int status, std::string reason) {
  return {.state = ParsedHead::State::refused, .status = status, .reason = std::move(reason)};
}

/// Returns true if `text` is a token as RFC 9110 defines it. Methods and header names must be
/// tokens.
bool is_token(std::string_view text) {
  constexpr std::string_view kPunctuation = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kPunctuation.find(c) != std::string_view::npos;
  });
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Returns true if `list`, a comma-separated header value such as that of Connection, contains
/// `token`.
bool lists(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (same_name(without_blanks(list.substr(0, comma)), token)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// A target in absolute form, such as "http://localhost:8080/mcp", split into its parts. Proxies
/// send this form, and a server must accept it (RFC 9112, section 3.2.2).
struct AbsoluteForm {
  std::string_view authority, path;
};

std::optional<AbsoluteForm> absolute_form(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_name(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
    const std::string_view path = target.substr(end);
    return AbsoluteForm{target.substr(0, end), path.starts_with('/') ? path : "/"};
  }
  return std::nullopt;
}

/// Parses "METHOD target HTTP/1.x". If the line is valid, the returned state is `incomplete`,
/// because the headers have not been parsed yet.
ParsedHead parse_request_line(std::string_view line, const HeadLimits& limits,
                              std::optional<AbsoluteForm>& absolute) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return refuse(400, "the request line must be METHOD TARGET HTTP/1.1");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || method.size() > kMaxMethodBytes)
    return refuse(400, "the method is malformed");
  if (target.size() > limits.max_target_bytes)
    return refuse(414, "the target is longer than the limit of " +
                           std::to_string(limits.max_target_bytes) + " bytes");
  if (target.empty() ||
      !std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7F; })) {
    return refuse(400, "the target must be visible ASCII characters");
  }
  absolute = absolute_form(target);
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(505, "the version must be HTTP/1.1 or HTTP/1.0");
  ParsedHead head;
  head.request.method = method;
  const std::string_view path = absolute ? absolute->path : target;
  head.request.path = path.substr(0, path.find_first_of("?#"));
  const std::string_view before_fragment = path.substr(0, path.find('#'));
  if (const std::size_t mark = before_fragment.find('?'); mark != std::string_view::npos)
    head.request.query = before_fragment.substr(mark + 1);
  head.request.http_1_0 = version == "HTTP/1.0";
  return head;
}

constexpr std::size_t kMaxSizeDigits = 15;  // any number with so many digits fits into 64 bits

}  // namespace

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7F); });
}

bool same_name(std::string_view name, std::string_view other) {
  return name.size() == other.size() && ::strncasecmp(name.data(), other.data(), name.size()) == 0;
}

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [name](const auto& entry) {
    return same_name(entry.first, name);
  });
  return found == headers.end() ? std::nullopt : std::optional(found->second);
}

HeaderLookup HttpRequest::lookup() const {
  return [this](const char* name) { return header(name); };
}

bool HttpRequest::has_body() const {
  return header("Content-Length").has_value() || header("Transfer-Encoding").has_value();
}

bool HttpRequest::keeps_connection() const {
  const std::string connection = header("Connection").value_or("");
  return http_1_0 ? lists(connection, "keep-alive") : !lists(connection, "close");
}

ParsedHead parse_head(std::string_view bytes, const HeadLimits& limits) {
  const std::size_t end = bytes.substr(0, limits.max_bytes).find(kBlankLine);
  if (end == std::string_view::npos) {
    if (bytes.size() < limits.max_bytes) return {};
    return refuse(431, "the headers are longer than the limit of " +
                           std::to_string(limits.max_bytes) + " bytes");
  }
  std::string_view rest = bytes.substr(0, end + kLineBreak.size());
  const auto next_line = [&rest] {
    const std::size_t stop = rest.find(kLineBreak);
    const std::string_view line = rest.substr(0, stop);
    rest.remove_prefix(stop + kLineBreak.size());
    return line;
  };
  std::optional<AbsoluteForm> absolute;
  ParsedHead head = parse_request_line(next_line(), limits, absolute);
  if (head.state == ParsedHead::State::refused) return head;
  std::size_t headers = 0;
  std::size_t hosts = 0;
  std::size_t body_ends = 0;
  while (!rest.empty()) {
    const std::string_view line = next_line();
    if (++headers > limits.max_headers)
      return refuse(431, "too many headers: the limit is " + std::to_string(limits.max_headers));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return refuse(400, "header " + std::to_string(headers) + " must be NAME: VALUE on one line");
    if (!is_header_value(line.substr(colon + 1)))
      return refuse(400,
                    "header " + std::to_string(headers) + " has a control character in its value");
    const std::string_view name = line.substr(0, colon);
    if (same_name(name, "Host") && ++hosts > 1) return refuse(400, "more than one Host header");
    if ((same_name(name, "Content-Length") || same_name(name, "Transfer-Encoding")) &&
        ++body_ends > 1) {
      return refuse(400, "more than one Content-Length or Transfer-Encoding");
    }
    if (same_name(name, "Range")) return refuse(400, "Range does not apply here");
    // The authority of an absolute target replaces the value of Host.
    head.request.headers.emplace_back(name, absolute && same_name(name, "Host")
                                                ? absolute->authority
                                                : without_blanks(line.substr(colon + 1)));
  }
  head.state = ParsedHead::State::complete;
  head.size = end + kBlankLine.size();
  return head;
}

std::size_t ChunkDecoder::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ == State::incomplete) {
    const std::string_view rest = bytes.substr(used);
    if (data_bytes_ > 0) {
      const std::string_view data = rest.substr(0, data_bytes_);
      body_.append(data);
      data_bytes_ -= data.size();
      used += data.size();
      continue;
    }
    const std::size_t line_break = rest.find('\n');
    const std::string_view part =
        rest.substr(0, line_break == rest.npos ? rest.npos : line_break + 1);
    line_.append(part);
    if (!may_become_line()) state_ = State::malformed;
    used += part.size();
    framing_bytes_ += part.size();
    if (framing_bytes_ > max_framing_bytes_)
      state_ = State::malformed;
    else if (line_break != rest.npos && state_ == State::incomplete)
      take_line();
  }
  return used;
}

bool ChunkDecoder::may_become_line() const {
  constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
  switch (expected_) {
    case Line::size: {
      const std::size_t other = line_.find_first_not_of(kHexDigits);
      return other == std::string::npos ||
             (other > 0 && (line_[other] == ';' || line_[other] == '\r'));
    }
    case Line::end_of_data: return kLineBreak.starts_with(line_);
    case Line::trailer: return true;
  }
  return false;
}

void ChunkDecoder::take_line() {
  const std::string whole = std::exchange(line_, {});
  std::string_view line = whole;
  line.remove_suffix(1);
  if (!line.ends_with('\r') || !is_header_value(line.substr(0, line.size() - 1))) {
    state_ = State::malformed;
    return;
  }
  line.remove_suffix(1);
  switch (expected_) {
    case Line::size: return take_size(line);
    case Line::end_of_data:
      if (!line.empty()) state_ = State::malformed;
      expected_ = Line::size;
      return;
    case Line::trailer:
      if (line.empty()) state_ = State::complete;
      return;
  }
}

void ChunkDecoder::take_size(std::string_view line) {
  const std::string_view digits = line.substr(0, line.find(';'));
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  if (digits.size() > kMaxSizeDigits || error != std::errc() ||
      end != digits.data() + digits.size() || digits.starts_with('-')) {
    state_ = State::malformed;
  } else if (size > max_body_bytes_ - body_.size()) {
    state_ = State::too_large;
  } else {
    data_bytes_ = size;
    expected_ = size == 0 ? Line::trailer : Line::end_of_data;
  }
}

}  // namespace assay::mcp
