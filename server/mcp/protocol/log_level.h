// The severities of notifications/message, those of syslog (RFC 5424), lowest first.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace assay::mcp {

enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };

constexpr std::array<std::string_view, 8> kLogLevelNames = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
constexpr const char* kValidLogLevels =
    "debug, info, notice, warning, error, critical, alert, emergency";

constexpr std::string_view to_string(LogLevel level) {
  return kLogLevelNames[static_cast<std::size_t>(level)];
}

constexpr std::optional<LogLevel> log_level_from(std::string_view name) {
  for (std::size_t i = 0; i < kLogLevelNames.size(); ++i) {
    if (kLogLevelNames[i] == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

}  // namespace assay::mcp
