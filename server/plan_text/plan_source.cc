#include "server/plan_text/plan_source.h"

#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>

#include "base/handle.h"
#include "base/try.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/store/store.h"

namespace assay::server {
namespace {

constexpr std::int64_t kSliceBytes = 1 << 20;

Result<std::string> read_artifact(const std::string& handle, const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(ErrorCode::not_found,
                "there is no store at " + path.string() + "; --store names another");
  ASSAY_TRY(store, Store::open(path, StoreMode::read_only));
  std::string bytes;
  while (true) {
    ASSAY_TRY(slice,
              store->read_artifact(handle, static_cast<std::int64_t>(bytes.size()), kSliceBytes));
    if (slice.kind != "plan")
      return fail(ErrorCode::corrupt, "it is of the kind '" + slice.kind + "', not a launch plan");
    if (slice.total_bytes > static_cast<std::int64_t>(sandbox::kMaxPlanBytes))
      return fail(ErrorCode::corrupt, "it is larger than a launch plan can be");
    bytes += slice.bytes;
    if (slice.bytes.empty()) return bytes;
  }
}

}  // namespace

Result<StoredPlan> read_plan(const std::string& where, const std::filesystem::path& store) {
  Result<std::string> bytes =
      is_handle(where, "artifact")
          ? read_artifact(where, store)
          : read_file_bytes(where, static_cast<std::int64_t>(sandbox::kMaxPlanBytes),
                            "a launch plan");
  if (!bytes)
    return fail(bytes.error().code, is_handle(where, "artifact")
                                        ? where + ": " + bytes.error().message
                                        : bytes.error().message);
  if (!bytes->starts_with(sandbox::kPlanMagic))
    return fail(ErrorCode::corrupt, where + " is not a launch plan: at byte 0 it lacks the word " +
                                        std::string(sandbox::kPlanMagic) +
                                        "; `assay eval --artifacts DIR` writes plans");
  Result<sandbox::Plan> plan = sandbox::decode_plan(*bytes);
  if (!plan)
    return fail(plan.error().code, where + " is a damaged launch plan: " + plan.error().message);
  return StoredPlan{std::move(*bytes), std::move(*plan)};
}

int status_of_plan_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::corrupt: return kBadData;
    case ErrorCode::not_found:
    case ErrorCode::io: return kNoInput;
    default: return kStoreUnusable;
  }
}

}  // namespace assay::server
