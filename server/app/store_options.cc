#include "server/app/store_options.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace assay::server {
namespace {

constexpr std::int64_t kMsPerSecond = 1'000;
constexpr const char* kJobBytes = "--artifact-job-bytes";
constexpr const char* kOwnerBytes = "--artifact-owner-bytes";
constexpr const char* kStoreBytes = "--artifact-store-bytes";
constexpr const char* kAge = "--artifact-age";
constexpr const char* kPracticeBytes = "--practice-bytes";
constexpr const char* kScoredBytes = "--scored-bytes";

using Read = Result<std::int64_t>(std::string_view);

Status read_option(const char* name, const std::string& text, Read& read, std::int64_t unit,
                   std::int64_t& value) {
  if (text.empty()) return {};
  const Result<std::int64_t> number = read(text);
  if (!number) return fail(number.error().code, std::string(name) + ": " + number.error().message);
  value = *number * unit;
  return {};
}

}  // namespace

void add_store_options(CLI::App& command, StoreLimitOptions& options) {
  const ArtifactLimits defaults;
  const JobLimits jobs;
  const auto size = [&](const char* name, std::string& value, const std::string& what,
                        std::int64_t otherwise) {
    command.add_option(name, value,
                       what + ", e.g. 64MiB, 4GiB (default: " + bytes_text(otherwise) + ")");
  };
  size(kJobBytes, options.job_bytes, "artifacts of one job in the store", defaults.job_bytes);
  size(kOwnerBytes, options.owner_bytes,
       "artifacts of one scored run, or of one caller's practice, in the store",
       defaults.owner_bytes);
  size(kStoreBytes, options.store_bytes, "all artifacts in the store", defaults.store_bytes);
  command.add_option(kAge, options.age,
                     "age at which artifacts of practice expire, e.g. 12h, 7d (default: " +
                         seconds_text(defaults.practice_age_ms / kMsPerSecond) + ")");
  size(kPracticeBytes, options.practice_bytes,
       "sources and verdicts of one caller's practice in the store", jobs.practice_bytes);
  size(kScoredBytes, options.scored_bytes,
       "sources and verdicts of one caller's scored runs in the store", jobs.scored_bytes);
}

Result<StoreLimits> store_limits(const StoreLimitOptions& options) {
  StoreLimits limits;
  const auto size = [](const char* name, const std::string& text, std::int64_t& value) {
    return read_option(name, text, bytes_from, 1, value);
  };
  ASSAY_RETURN_IF_ERROR(size(kJobBytes, options.job_bytes, limits.artifacts.job_bytes));
  ASSAY_RETURN_IF_ERROR(size(kOwnerBytes, options.owner_bytes, limits.artifacts.owner_bytes));
  ASSAY_RETURN_IF_ERROR(size(kStoreBytes, options.store_bytes, limits.artifacts.store_bytes));
  ASSAY_RETURN_IF_ERROR(size(kPracticeBytes, options.practice_bytes, limits.jobs.practice_bytes));
  ASSAY_RETURN_IF_ERROR(size(kScoredBytes, options.scored_bytes, limits.jobs.scored_bytes));
  ASSAY_RETURN_IF_ERROR(
      read_option(kAge, options.age, seconds_from, kMsPerSecond, limits.artifacts.practice_age_ms));
  return limits;
}

std::vector<std::string> arguments_of(const StoreLimitOptions& options) {
  std::vector<std::string> arguments;
  for (const auto& [name, text] :
       {std::pair(kJobBytes, options.job_bytes), std::pair(kOwnerBytes, options.owner_bytes),
        std::pair(kStoreBytes, options.store_bytes), std::pair(kAge, options.age),
        std::pair(kPracticeBytes, options.practice_bytes),
        std::pair(kScoredBytes, options.scored_bytes)}) {
    if (!text.empty()) arguments.insert(arguments.end(), {name, text});
  }
  return arguments;
}

}  // namespace assay::server
