#include "server/commands/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/json.h"
#include "base/unique_fd.h"
#include "server/app/files.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr mode_t kNewFileMode = 0644;
/// The depth at which a configuration describes one server: {"mcpServers": {"assay": ...}}.
constexpr int kServerDepth = 2;

/// Returns a description of the first member of `to` that has no place for `from`, or "".
std::string merge(Json& to, const Json& from, int depth, const std::string& path) {
  for (const auto& [key, value] : from.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (!to.contains(key) || depth + 1 == kServerDepth) {
      to[key] = value;
      continue;
    }
    Json& old = to[key];
    if (old.type() != value.type()) return "'" + name + "' has another type there";
    if (value.is_array()) {
      for (const Json& element : value) {
        if (std::find(old.begin(), old.end(), element) == old.end()) old.push_back(element);
      }
    } else if (value.is_object()) {
      if (std::string wrong = merge(old, value, depth + 1, name); !wrong.empty()) return wrong;
    } else {
      old = value;
    }
  }
  return "";
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

std::optional<toml::table> parse_toml(const std::string& text, std::string& error) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& problem) {
    error = "line " + std::to_string(problem.source().begin.line) + ": " +
            std::string(problem.description());
    return std::nullopt;
  }
}

/// Replaces `path` by a file with this content.
Status replace_file(const fs::path& path, const std::string& text) {
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  const std::string temporary = path.string() + ".assay-" + std::to_string(::getpid());
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode));
  if (!fd) return fail_errno("open " + temporary);
  const auto give_up = [&](const std::string& what) {
    const Error error = fail_errno(what + " " + temporary).value();
    ::unlink(temporary.c_str());
    return fail(error);
  };
  if (exists && ::fchmod(fd.get(), facts.st_mode & 07777U) != 0) return give_up("fchmod");
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(fd.get(), text.data() + done, text.size() - done);
    if (wrote < 0) return give_up("write");
    done += static_cast<std::size_t>(wrote);
  }
  if (::fsync(fd.get()) != 0) return give_up("fsync");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return give_up("rename");
  return {};
}

}  // namespace

Result<std::string> merged_json(const std::string& text, const std::string& added) {
  const Json parsed = is_blank(text) ? Json::object() : Json::parse(text, nullptr, false);
  if (parsed.is_discarded()) {
    const bool commented = !Json::parse(text, nullptr, false, true).is_discarded();
    return fail(ErrorCode::corrupt,
                commented ? "it has comments, which would be lost" : "it is not JSON");
  }
  if (!parsed.is_object()) return fail(ErrorCode::corrupt, "it is not a JSON object");
  Json merged = parsed;
  if (const std::string wrong = merge(merged, Json::parse(added), 0, ""); !wrong.empty())
    return fail(ErrorCode::invalid_argument, wrong);
  if (merged == parsed) return text;
  try {
    return merged.dump(2) + "\n";
  } catch (const Json::exception&) {
    return fail(ErrorCode::corrupt, "it is not UTF-8");
  }
}

Result<std::string> merged_toml(const std::string& text, const std::string& added) {
  std::string error;
  const std::optional<toml::table> old = parse_toml(text, error);
  if (!old) return fail(ErrorCode::corrupt, "it is not TOML: " + error);
  const std::optional<toml::table> extra = parse_toml(added, error);
  if (!extra) return fail(ErrorCode::internal, "the configuration is not TOML: " + error);
  for (const auto& [key, servers] : *extra) {
    const toml::node* there = old->get(key.str());
    if (there == nullptr) continue;
    if (!there->is_table())
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(key.str()) + "' has another type there");
    for (const auto& [name, server] : *servers.as_table()) {
      const toml::node* same = there->as_table()->get(name.str());
      if (same == nullptr) continue;
      if (same->is_table() && *same->as_table() == *server.as_table()) return text;
      return fail(ErrorCode::invalid_argument, "it has another [" + std::string(key.str()) + "." +
                                                   std::string(name.str()) +
                                                   "]; remove that table first");
    }
  }
  std::string merged = text;
  if (!merged.empty() && merged.back() != '\n') merged += '\n';
  merged += (merged.empty() ? "" : "\n") + added;
  // A table that is written inline, for example, cannot be continued.
  if (!parse_toml(merged, error))
    return fail(ErrorCode::invalid_argument, "the tables cannot be appended: " + error);
  return merged;
}

Result<FileChange> write_config(const std::string& file, const ClientConfig& config) {
  const std::string advice =
      "; it was not changed. Without --config-file the configuration is "
      "printed, for " +
      config.where;
  if (config.form == ConfigForm::program)
    return fail(ErrorCode::invalid_argument,
                "a program is not a configuration file, so leave out --config-file");
  std::error_code error;
  const fs::path path = fs::weakly_canonical(file, error);
  if (error) return fail(ErrorCode::io, file + ": " + error.message());
  std::string text;
  if (fs::exists(path, error)) {
    Result<std::string> read = read_file_bytes(path.string(), kMostConfigBytes, "a configuration");
    if (!read)
      return fail(read.error().code == ErrorCode::corrupt ? ErrorCode::corrupt : ErrorCode::io,
                  read.error().message + advice);
    text = std::move(*read);
  }
  const Result<std::string> merged = config.form == ConfigForm::toml
                                         ? merged_toml(text, config.text)
                                         : merged_json(text, config.text);
  if (!merged) return fail(merged.error().code, file + ": " + merged.error().message + advice);
  if (*merged == text) return FileChange::none;
  ASSAY_RETURN_IF_ERROR(replace_file(path, *merged));
  return FileChange::written;
}

}  // namespace assay::server
