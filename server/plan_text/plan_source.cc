#include "server/plan_text/plan_source.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "base/result.h"
#include "base/text.h"
#include "sandbox/launcher/plan/plan_check.h"
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
    ASSAY_TRY(slice, store->read_artifact(handle, std::nullopt,
                                          static_cast<std::int64_t>(bytes.size()), kSliceBytes));
    if (slice.kind != "plan")
      return fail(ErrorCode::corrupt,
                  "the artifact has the kind '" + slice.kind + "'; it is not a launch plan");
    if (slice.total_bytes > static_cast<std::int64_t>(sandbox::kMaxPlanBytes))
      return fail(ErrorCode::corrupt, "the artifact is larger than a launch plan can be");
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

namespace {

/// Returns the size in bytes that each tensor argument of the case has if the tensor is contiguous.
std::map<std::string, std::uint64_t> tensor_bytes(const operators::Operator& op,
                                                  const operators::Case& one) {
  std::map<std::string, std::uint64_t> bytes;
  for (const operators::Argument& argument : op.arguments) {
    if (argument.type != operators::ArgumentType::tensor) continue;
    std::uint64_t size =
        sandbox::dtype_bytes(argument.dtype == "case" ? one.dtype : argument.dtype).value_or(0);
    for (const std::string& extent : argument.shape)
      size *= static_cast<std::uint64_t>(operators::evaluate_extent(extent, one.axes).value_or(0));
    bytes[argument.name] = size;
  }
  return bytes;
}

}  // namespace

NamedPlan named_plan(const operators::Operator& op, const std::string& word) {
  const std::size_t sign = word.find('=');
  if (sign == std::string::npos) return {"", word};
  const std::string name = word.substr(0, sign);
  const bool known = std::any_of(op.cases.begin(), op.cases.end(),
                                 [&](const operators::Case& one) { return one.id == name; });
  return known ? NamedPlan{name, word.substr(sign + 1)}
               : NamedPlan{"", word};  // a file name can contain '=', too
}

Result<std::string> case_of_plan(const operators::Operator& op, const sandbox::Plan& plan) {
  std::map<std::string, std::uint64_t> inputs;
  for (const sandbox::PlanBuffer& buffer : plan.buffers) {
    if (buffer.kind == sandbox::BufferKind::input) inputs[buffer.name] = buffer.bytes;
  }
  std::vector<std::string> fitting, fitting_public, all;
  for (const operators::Case& one : op.cases) {
    all.push_back(one.id);
    if (tensor_bytes(op, one) != inputs) continue;
    fitting.push_back(one.id);
    if (!one.hidden) fitting_public.push_back(one.id);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting_public.size() == 1) return fitting_public.front();
  if (fitting.empty())
    return fail(ErrorCode::invalid_argument,
                "the plan's arguments have the sizes of no case of '" + op.name +
                    "'; name its case with --case or --plan CASE=PLAN: " + join(all));
  return fail(ErrorCode::invalid_argument,
              "the plan's arguments have the sizes of several cases of '" + op.name +
                  "'; name its case with --case or --plan CASE=PLAN: " + join(fitting));
}

}  // namespace assay::server
