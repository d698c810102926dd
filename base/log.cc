#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"

namespace assay::log {
namespace {

constexpr std::array<std::pair<std::string_view, Level>, 6> kLevels = {{
    {"trace", Level::trace},
    {"debug", Level::debug},
    {"info", Level::info},
    {"warning", Level::warning},
    {"error", Level::error},
    {"off", Level::off},
}};

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::trace: return spdlog::level::trace;
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warning: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
    case Level::off: break;
  }
  return spdlog::level::off;
}

struct Log {
  Settings settings;
  std::shared_ptr<spdlog::logger> logger;
};

/// Throws spdlog::spdlog_ex if the file cannot be opened.
Log make_log(const Settings& settings) {
  spdlog::sink_ptr sink;
  if (settings.file.empty())
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  else
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings.file);
  auto logger = std::make_shared<spdlog::logger>("assay", std::move(sink));
  const char* pattern = settings.format == Format::json
                            ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                            : "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
  logger->set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  logger->set_level(to_spdlog(settings.level));
  logger->flush_on(spdlog::level::trace);
  return {settings, std::move(logger)};
}

class Current {
 public:
  void set(Log log) {
    const MutexLock lock(mutex_);
    log_ = std::move(log);
  }
  Log get() {
    const MutexLock lock(mutex_);
    if (log_.logger == nullptr)
      log_ = make_log({.level = Level::warning, .format = Format::text, .file = {}});
    return log_;
  }

 private:
  Mutex mutex_;
  Log log_ ASSAY_GUARDED_BY(mutex_);
};

/// Returns the current log. The object is never destroyed, because a thread can log while the
/// process ends.
Current& current() {
  static Current& instance = *new Current;
  return instance;
}

/// Returns `text` as one line of valid UTF-8. If `quoted` is true, quotes and backslashes are
/// escaped as in JSON.
std::string one_line(std::string_view text, bool quoted) {
  std::string result;
  for (const char c : escape_text(text)) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      if (quoted && (c == '"' || c == '\\')) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string quote(std::string_view text) {
  return std::string("\"").append(one_line(text, true)).append("\"");
}

std::string to_text(const Value& value, Format format) {
  return std::visit(
      [format](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string_view>) {
          const bool plain =
              !held.empty() && held.find_first_of(" \t\n\"=\\") == std::string_view::npos;
          return format == Format::text && plain ? one_line(held, false) : quote(held);
        } else if constexpr (std::is_same_v<Held, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<Held, double>) {
          if (!std::isfinite(held)) return "null";
          std::array<char, 32> buffer{};
          std::snprintf(buffer.data(), buffer.size(), "%.6g", held);
          return buffer.data();
        } else {
          return std::to_string(held);
        }
      },
      value.get());
}

}  // namespace

std::optional<Level> level_named(std::string_view name) {
  for (const auto& [known, level] : kLevels)
    if (known == name) return level;
  return std::nullopt;
}

std::optional<Format> format_named(std::string_view name) {
  if (name == "text") return Format::text;
  if (name == "json") return Format::json;
  return std::nullopt;
}

std::string format_fields(Format format, std::string_view message, const Field* fields,
                          std::size_t count) {
  const bool json = format == Format::json;
  std::string line = json ? "\"message\":" + quote(message) : one_line(message, false);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string value = to_text(fields[i].value, format);
    const std::string key(fields[i].key);
    line += json ? ",\"" + key + "\":" + value : " " + key + "=" + value;
  }
  return line;
}

Status configure(const Settings& settings) {
  try {
    current().set(make_log(settings));
  } catch (const spdlog::spdlog_ex& error) {
    return fail(ErrorCode::invalid_argument, std::string("the log file: ") + error.what());
  }
  return {};
}

Status reopen() {
  const Settings settings = current().get().settings;
  return settings.file.empty() ? Status() : configure(settings);
}

void write(Level level, std::string_view message, const Field* fields, std::size_t count) {
  const Log log = current().get();
  if (!log.logger->should_log(to_spdlog(level))) return;
  const std::string line = format_fields(log.settings.format, message, fields, count);
  log.logger->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace assay::log
