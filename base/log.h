// Writes the log of a server: one line for each event, with named fields, as text or as JSON. The
// log goes to stderr or to a file, never to stdout, because MCP messages use stdout in the stdio
// transport.
//
//   log::info("job finished", {{"job", "job_2f"}, {"outcome", "pass"}, {"total_ms", 12.5}});
//   // As text: 2026-11-24T06:30:00.123Z info job finished job=job_2f outcome=pass total_ms=12.5
//   // As JSON, on one line: {"time":"2026-11-24T06:30:00.123Z","level":"info",
//   // "message":"job finished","job":"job_2f","outcome":"pass","total_ms":12.5}
//
// Never log a token, a source, a tool's argument, a message of a submission, or hidden data.
//
// Thread-safe, but call `configure` before other threads log. Without a call of `configure`, the
// log has level warning and goes to stderr as text. Only log.cc includes spdlog, because its
// headers are expensive to parse.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace assay::log {

enum class Level { trace, debug, info, warning, error, off };
enum class Format { text, json };

inline constexpr const char* kLevelNames = "trace, debug, info, warning, error or off";
inline constexpr const char* kFormatNames = "text or json";

/// Returns the level of this name, or nullopt if the name is unknown.
std::optional<Level> level_named(std::string_view name);
std::optional<Format> format_named(std::string_view name);

struct Settings {
  Level level = Level::info;
  Format format = Format::text;
  std::string file = {};  // the path of the file to append to; empty: stderr
};

/// Replaces the log by one with these settings. If the file cannot be opened, returns an error and
/// keeps the old log.
Status configure(const Settings& settings);

/// Opens the log file again, after a program has rotated it. Does nothing if the log goes to
/// stderr. If the file cannot be opened, returns an error and keeps the old log.
Status reopen();

/// The value of a field of a log line. It does not own its text, so the text must outlive it.
class Value {
 public:
  Value(std::string_view text) : value_(text) {}
  Value(const std::string& text) : value_(std::string_view(text)) {}
  Value(const char* text) : value_(std::string_view(text)) {}
  Value(bool value) : value_(value) {}
  Value(std::integral auto number) : value_(static_cast<std::int64_t>(number)) {}
  Value(std::floating_point auto number) : value_(static_cast<double>(number)) {}

  const std::variant<std::string_view, bool, std::int64_t, double>& get() const { return value_; }

 private:
  std::variant<std::string_view, bool, std::int64_t, double> value_;
};

struct Field {
  std::string_view key;  // letters, digits and underscores
  Value value;
};

using Fields = std::initializer_list<Field>;

/// Returns the part of a log line that follows the time and the level. Control characters and
/// invalid UTF-8 are escaped, so that a value cannot start a new line.
std::string format_fields(Format format, std::string_view message, const Field* fields,
                          std::size_t count);

void write(Level level, std::string_view message, const Field* fields, std::size_t count);

inline void trace(std::string_view message, Fields fields = {}) {
  write(Level::trace, message, fields.begin(), fields.size());
}
inline void debug(std::string_view message, Fields fields = {}) {
  write(Level::debug, message, fields.begin(), fields.size());
}
inline void info(std::string_view message, Fields fields = {}) {
  write(Level::info, message, fields.begin(), fields.size());
}
inline void warning(std::string_view message, Fields fields = {}) {
  write(Level::warning, message, fields.begin(), fields.size());
}
inline void error(std::string_view message, Fields fields = {}) {
  write(Level::error, message, fields.begin(), fields.size());
}

}  // namespace assay::log
