#include "server/edge/shares_file.h"

#include <toml++/toml.h>

#include <cstdint>
#include <optional>

#include "base/text.h"
#include "server/app/files.h"

namespace assay::server {
namespace {

constexpr double kLeastWeight = 0.001, kMostWeight = 1'000;
constexpr double kMostReserve = 0.9;
constexpr std::int64_t kMostJobs = 1'000'000;

tl::unexpected<Error> bad(const std::string& what) {
  return fail(ErrorCode::invalid_argument, what);
}

/// Returns the number if it is one and in the range.
std::optional<double> number_of(const toml::node& value, double low, double high) {
  const std::optional<double> number = value.value<double>();
  if (!value.is_number() || !number || !(*number >= low) || *number > high) return std::nullopt;
  return number;
}

Result<ShareSettings::Member> read_share_of(const std::string& where, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return bad("`" + where + "` must be a table");
  ShareSettings::Member member;
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    if (name == "weight") {
      const std::optional<double> weight = number_of(value, kLeastWeight, kMostWeight);
      if (!weight) return bad("`" + where + ".weight` must be a number from 0.001 to 1000");
      member.weight = *weight;
      continue;
    }
    if (name != "queued" && name != "running")
      return bad("unknown name `" + where + "." + name + "`; valid: weight, queued, running");
    const std::optional<std::int64_t> jobs = value.value_exact<std::int64_t>();
    if (!jobs || *jobs < 1 || *jobs > kMostJobs)
      return bad("`" + where + "." + name + "` must be a number of jobs from 1 to " +
                 std::to_string(kMostJobs));
    (name == "queued" ? member.queued : member.running) = static_cast<std::size_t>(*jobs);
  }
  return member;
}

}  // namespace

Result<ShareSettings> parse_shares(std::string_view text) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return bad("line " + std::to_string(error.source().begin.line) + ": " +
               std::string(error.description()));
  }
  ShareSettings settings;
  for (const auto& [key, value] : document) {
    const std::string name(key.str());
    if (name == "reserve") {
      const std::optional<double> reserve = number_of(value, 0, kMostReserve);
      if (!reserve) return bad("`reserve` must be a number from 0 to 0.9");
      settings.reserve = *reserve;
    } else if (name == "each_token" || name == "each_run") {
      ASSAY_TRY(member, read_share_of(name, value));
      (name == "each_token" ? settings.each_token : settings.each_run) = member;
    } else if (name == "token" || name == "run") {
      const toml::table* members = value.as_table();
      if (members == nullptr) return bad("`" + name + "` must be a table of tables");
      for (const auto& [member_name, node] : *members) {
        const std::string member(member_name.str());
        ASSAY_TRY(read, read_share_of(name + "." + member, node));
        (name == "token" ? settings.tokens : settings.runs)[member] = read;
      }
    } else {
      return bad("unknown name `" + name +
                 "`; valid: reserve, each_token, each_run, token.NAME, run.HANDLE");
    }
  }
  return settings;
}

Result<ShareSettings> read_shares(const std::string& path) {
  ASSAY_TRY(text, read_regular_file(path, kMaxSharesFileBytes, "a file of shares"));
  // An editor or a full disk can leave an empty file. It must not end all limits.
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(ErrorCode::corrupt,
                path +
                    " is empty; a file of shares without weights and limits has the line "
                    "`reserve = 0`");
  Result<ShareSettings> settings = parse_shares(text);
  if (!settings) return fail(settings.error().code, path + ": " + settings.error().message);
  return settings;
}

}  // namespace assay::server
