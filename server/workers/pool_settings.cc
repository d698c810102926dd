#include "server/workers/pool_settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "sandbox/device/make_device.h"
#include "server/app/files.h"

namespace assay::server {
namespace {

constexpr std::int64_t kMostSeconds = 30LL * 24 * 3'600;

struct TextField {
  std::string_view name;
  std::string PoolSettings::*member;
};
constexpr std::array kTexts{
    TextField{"name", &PoolSettings::name}, TextField{"command", &PoolSettings::command},
    TextField{"role", &PoolSettings::role}, TextField{"records", &PoolSettings::records},
    TextField{"device", &PoolSettings::device}};

struct NumberField {
  std::string_view name;
  std::int64_t PoolSettings::*member;
  std::int64_t low, high;
};
constexpr std::array kNumbers{
    NumberField{"least", &PoolSettings::least, 0, kMostWorkers},
    NumberField{"most", &PoolSettings::most, 1, kMostWorkers},
    NumberField{"jobs_per_worker", &PoolSettings::jobs_per_worker, 1, kMostJobsPerWorker},
    NumberField{"idle_s", &PoolSettings::idle_s, 1, kMostSeconds},
    NumberField{"start_s", &PoolSettings::start_s, 1, kMostSeconds},
    NumberField{"health_check_s", &PoolSettings::health_check_s, 0, kMostSeconds},
    NumberField{"quarantine_s", &PoolSettings::quarantine_s, 1, kMostSeconds}};

std::string valid_fields() {
  std::vector<std::string_view> names;
  for (const TextField& field : kTexts) names.push_back(field.name);
  for (const NumberField& field : kNumbers) names.push_back(field.name);
  return join(names);
}

/// Sets the field named `key`. Returns an error if there is none, or if the value has another type.
Status set_field(PoolSettings& pool, std::string_view key, const toml::node& value) {
  for (const TextField& field : kTexts) {
    if (field.name != key) continue;
    const std::optional<std::string> text = value.value_exact<std::string>();
    if (!text) return fail(ErrorCode::invalid_argument, "`" + std::string(key) + "` is no string");
    pool.*field.member = *text;
    return {};
  }
  for (const NumberField& field : kNumbers) {
    if (field.name != key) continue;
    const std::optional<std::int64_t> number = value.value_exact<std::int64_t>();
    if (!number)
      return fail(ErrorCode::invalid_argument, "`" + std::string(key) + "` is no integer");
    pool.*field.member = *number;
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              "unknown field `" + std::string(key) + "`; valid: " + valid_fields());
}

bool is_name(std::string_view text) {
  constexpr std::size_t kMostBytes = 40;
  return !text.empty() && text.size() <= kMostBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

}  // namespace

bool is_role(std::string_view name) {
  return name == kRoleAll || name == kRoleRecord || name == kRoleLaunch;
}

Status pair_pools(std::vector<PoolSettings>& pools) {
  std::vector<std::string> recording;
  for (const PoolSettings& pool : pools) {
    if (pool.role == kRoleRecord) recording.push_back(pool.name);
  }
  std::vector<std::string> paired;
  for (PoolSettings& pool : pools) {
    if (pool.role != kRoleLaunch) continue;
    const std::string where = "pool '" + pool.name + "': ";
    if (recording.empty())
      return fail(ErrorCode::invalid_argument,
                  where + "its role is launch, and no pool has role record");
    if (pool.records.empty() && recording.size() > 1)
      return fail(
          ErrorCode::invalid_argument,
          where + "`records` must name one of the pools with role record: " + join(recording));
    if (pool.records.empty()) pool.records = recording.front();
    if (std::find(recording.begin(), recording.end(), pool.records) == recording.end())
      return fail(ErrorCode::invalid_argument,
                  where + "`records` is '" + pool.records + "'; valid: " + join(recording));
    paired.push_back(pool.records);
  }
  for (const std::string& name : recording) {
    if (std::find(paired.begin(), paired.end(), name) == paired.end())
      return fail(ErrorCode::invalid_argument,
                  "pool '" + name + "': its role is record, and no pool with role launch uses it");
  }
  return {};
}

Status check_pool(const PoolSettings& pool) {
  const std::string where = "pool '" + pool.name + "': ";
  if (!is_name(pool.name))
    return fail(ErrorCode::invalid_argument,
                where + "`name` needs 1 to 40 of the characters a-z, 0-9, - and _");
  if (pool.command.empty())
    return fail(ErrorCode::invalid_argument,
                where + "`command` is missing, for example \"ssh -q host assay worker\"");
  if (!pool.device.empty()) {
    if (const Status known = sandbox::check_device_name(pool.device); !known)
      return fail(known.error().code, where + known.error().message);
  }
  if (!is_role(pool.role))
    return fail(ErrorCode::invalid_argument,
                where + "`role` is '" + pool.role + "'; valid: " + kRoleNames);
  if (!pool.records.empty() && pool.role != kRoleLaunch)
    return fail(ErrorCode::invalid_argument,
                where + "`records` is only for a pool with role launch");
  if (!pool.device.empty() && pool.role == kRoleRecord)
    return fail(ErrorCode::invalid_argument,
                where + "a worker with role record has no device; remove `device`");
  for (const NumberField& field : kNumbers) {
    const std::int64_t value = pool.*field.member;
    if (value < field.low || value > field.high)
      return fail(ErrorCode::invalid_argument, where + "`" + std::string(field.name) + "` is " +
                                                   std::to_string(value) +
                                                   "; valid: " + std::to_string(field.low) +
                                                   " to " + std::to_string(field.high));
  }
  if (pool.least > pool.most)
    return fail(ErrorCode::invalid_argument, where + "`least` is above `most`");
  return {};
}

Result<std::vector<PoolSettings>> parse_pools(std::string_view text) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid_argument, "line " + std::to_string(error.source().begin.line) +
                                                 ": " + std::string(error.description()));
  }
  const toml::array* list = document["pool"].as_array();
  if (list == nullptr || list->empty() || document.size() != 1)
    return fail(ErrorCode::invalid_argument,
                "a file of workers contains tables [[pool]] and nothing else");
  std::vector<PoolSettings> pools;
  for (const toml::node& entry : *list) {
    const toml::table* table = entry.as_table();
    if (table == nullptr) return fail(ErrorCode::invalid_argument, "`pool` is no list of tables");
    PoolSettings pool;
    for (const auto& [key, value] : *table)
      ASSAY_RETURN_IF_ERROR(set_field(pool, key.str(), value));
    if (!table->contains("most")) pool.most = std::max(pool.most, pool.least);
    ASSAY_RETURN_IF_ERROR(check_pool(pool));
    const bool twice = std::any_of(pools.begin(), pools.end(),
                                   [&](const auto& other) { return other.name == pool.name; });
    if (twice)
      return fail(ErrorCode::invalid_argument, "two pools have the name '" + pool.name + "'");
    pools.push_back(std::move(pool));
  }
  ASSAY_RETURN_IF_ERROR(pair_pools(pools));
  return pools;
}

Result<std::vector<PoolSettings>> read_pools(const std::string& path) {
  ASSAY_TRY(text, read_regular_file(path, kMaxPoolsFileBytes, "a file of workers"));
  Result<std::vector<PoolSettings>> pools = parse_pools(text);
  if (!pools) return fail(pools.error().code, path + ": " + pools.error().message);
  return pools;
}

}  // namespace assay::server
