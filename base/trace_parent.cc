#include "base/trace_parent.h"

#include "base/handle.h"

namespace assay {
namespace {

constexpr std::size_t kVersionDigits = 2, kTraceDigits = 32, kSpanDigits = 16, kFlagDigits = 2;
constexpr std::size_t kSize = kVersionDigits + kTraceDigits + kSpanDigits + kFlagDigits + 3;
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool is_hex(std::string_view text) {
  return text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::optional<TraceParent> TraceParent::parse(std::string_view text) {
  constexpr std::size_t kTraceAt = kVersionDigits + 1;
  constexpr std::size_t kSpanAt = kTraceAt + kTraceDigits + 1;
  constexpr std::size_t kFlagsAt = kSpanAt + kSpanDigits + 1;
  if (text.size() < kSize) return std::nullopt;
  const std::string_view version = text.substr(0, kVersionDigits);
  if (!is_hex(version) || version == "ff") return std::nullopt;
  // Only a newer version may have further fields.
  if (text.size() > kSize && (version == "00" || text[kSize] != '-')) return std::nullopt;
  if (text[kTraceAt - 1] != '-' || text[kSpanAt - 1] != '-' || text[kFlagsAt - 1] != '-')
    return std::nullopt;
  const std::string_view trace = text.substr(kTraceAt, kTraceDigits);
  const std::string_view span = text.substr(kSpanAt, kSpanDigits);
  const std::string_view flags = text.substr(kFlagsAt, kFlagDigits);
  if (!is_id(trace) || !is_id(span) || !is_hex(flags)) return std::nullopt;
  return TraceParent{std::string(trace), std::string(span), kHexDigits.find(flags[1]) % 2 == 1};
}

TraceParent TraceParent::below(const std::optional<TraceParent>& parent) {
  TraceParent own;
  own.trace_id = parent ? parent->trace_id : random_hex(kTraceDigits);
  own.span_id = random_hex(kSpanDigits);
  own.sampled = !parent || parent->sampled;
  return own;
}

std::string TraceParent::text() const {
  return "00-" + trace_id + "-" + span_id + (sampled ? "-01" : "-00");
}

}  // namespace assay
