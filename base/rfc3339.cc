#include "base/rfc3339.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>

namespace assay {
namespace {

constexpr std::int64_t kMsPerSecond = 1000;
constexpr std::int64_t kSecondsPerMinute = 60;
constexpr std::int64_t kSecondsPerHour = 3600;
constexpr std::int64_t kSecondsPerDay = 86'400;

/// Takes text from the front of `rest`. After the first mismatch, `fine` is false.
struct TimeReader {
  std::string_view rest;
  bool fine = true;

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  int number(std::size_t digits, int least, int most) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      fine = fine && i < rest.size() && is_digit(rest[i]);
      if (!fine) return least;
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(digits);
    fine = value >= least && value <= most;
    return value;
  }
  bool takes(std::string_view any_of) {
    if (rest.empty() || any_of.find(rest.front()) == std::string_view::npos) return false;
    rest.remove_prefix(1);
    return true;
  }
  void expect(std::string_view any_of) { fine = fine && takes(any_of); }

  std::int64_t fraction_ms() {
    if (!takes(".")) return 0;
    fine = fine && !rest.empty() && is_digit(rest.front());
    std::int64_t value = 0;
    for (std::int64_t unit = kMsPerSecond / 10; !rest.empty() && is_digit(rest.front());
         unit /= 10) {
      value += (rest.front() - '0') * unit;
      rest.remove_prefix(1);
    }
    return value;
  }
  std::int64_t offset_s() {
    if (takes("Zz")) return 0;
    const bool minus = !rest.empty() && rest.front() == '-';
    expect("+-");
    const int hours = number(2, 0, 23);
    expect(":");
    const int minutes = number(2, 0, 59);
    const std::int64_t seconds = hours * kSecondsPerHour + minutes * kSecondsPerMinute;
    return minus ? -seconds : seconds;
  }
};

}  // namespace

Result<std::int64_t> unix_ms_from(std::string_view text) {
  TimeReader reader{text};
  const int year = reader.number(4, 1970, 9999);
  reader.expect("-");
  const int month = reader.number(2, 1, 12);
  reader.expect("-");
  const int day = reader.number(2, 1, 31);
  reader.expect("Tt ");
  const int hour = reader.number(2, 0, 23);
  reader.expect(":");
  const int minute = reader.number(2, 0, 59);
  reader.expect(":");
  const int second = reader.number(2, 0, 60);
  const std::int64_t ms = reader.fraction_ms();
  const std::int64_t offset = reader.offset_s();
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!reader.fine || !reader.rest.empty() || !date.ok())
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is no time; valid: 2027-01-31T00:00:00Z");
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (days * kSecondsPerDay + hour * kSecondsPerHour + minute * kSecondsPerMinute + second -
          offset) *
             kMsPerSecond +
         ms;
}

std::string iso_time(std::int64_t unix_ms) {
  const std::time_t seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                parts.tm_sec, static_cast<int>(unix_ms % 1000));
  return text.data();
}

}  // namespace assay
