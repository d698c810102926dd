#include "base/units.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace assay {
namespace {

struct TimeUnit {
  char name;
  std::int64_t seconds;
};
constexpr std::array kTimeUnits = {TimeUnit{'d', 86'400}, TimeUnit{'h', 3'600}, TimeUnit{'m', 60},
                                   TimeUnit{'s', 1}};
constexpr std::int64_t kMostSeconds = 3'650 * 86'400LL;

struct SizeUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array kSizeUnits = {SizeUnit{"TiB", 1LL << 40}, SizeUnit{"GiB", 1LL << 30},
                                   SizeUnit{"MiB", 1LL << 20}, SizeUnit{"KiB", 1LL << 10}};
constexpr std::int64_t kMostBytes = 1LL << 50;

}  // namespace

Result<std::int64_t> seconds_from(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) +
                    "' is not a duration; valid: seconds, or days, hours, minutes and seconds, "
                    "e.g. 90, 90s, 15m, 2h, 7d, 1h30m, up to 3650d");
  };
  std::int64_t seconds = 0;
  std::int64_t last_unit = std::numeric_limits<std::int64_t>::max();
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t amount = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), amount);
    if (error != std::errc() || amount < 0 || amount > kMostSeconds) return wrong();
    at = static_cast<std::size_t>(end - text.data());
    const bool only_number = seconds == 0 && last_unit == std::numeric_limits<std::int64_t>::max();
    if (at == text.size() && !only_number) return wrong();  // "1h30": minutes or seconds?
    const char name = at < text.size() ? text[at++] : 's';
    std::int64_t unit = 0;
    for (const TimeUnit& known : kTimeUnits) {
      if (known.name == name) unit = known.seconds;
    }
    if (unit == 0 || unit >= last_unit) return wrong();  // "5m1h" and "5m5m" are typing errors
    last_unit = unit;
    seconds += amount * unit;
    if (seconds > kMostSeconds) return wrong();
  }
  if (seconds <= 0) return wrong();
  return seconds;
}

Result<std::int64_t> bytes_from(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) +
                    "' is not a size; valid: bytes, or a whole number of KiB, MiB, GiB or TiB, "
                    "e.g. 4096, 64KiB, 512MiB, 4GiB, up to 1024TiB");
  };
  std::int64_t amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || amount <= 0) return wrong();
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  std::int64_t unit = name.empty() ? 1 : 0;
  for (const SizeUnit& known : kSizeUnits) {
    if (known.name == name) unit = known.bytes;
  }
  if (unit == 0 || amount > kMostBytes / unit) return wrong();
  return amount * unit;
}

std::string bytes_text(std::int64_t bytes) {
  for (const auto& [name, unit] : kSizeUnits) {
    if (bytes < unit) continue;
    const std::int64_t tenths = bytes / unit * 10 + bytes % unit * 10 / unit;
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
    return text.append(" ").append(name);
  }
  return std::to_string(bytes) + " B";
}

std::string seconds_text(std::int64_t seconds) {
  std::string text;
  for (const auto& [name, unit] : kTimeUnits) {
    if (seconds >= unit) text += std::to_string(seconds / unit) + name;
    seconds %= unit;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace assay
