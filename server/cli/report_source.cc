#include "server/cli/report_source.h"

#include <memory>
#include <system_error>
#include <vector>

#include "server/cli/exit_status.h"
#include "server/runs/services.h"

namespace assay::server {
namespace {

constexpr std::size_t kNamedRuns = 5;

std::string named(const std::vector<tools::RunInfo>& runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.size() && i < kNamedRuns; ++i) {
    text += (i == 0 ? "" : ", ") + runs[i].handle + " (" + runs[i].request.agent + ", " + runs[i].request.model + ")";
  }
  return text;
}

}  // namespace

Result<Report> read_report(const std::filesystem::path& store, const operators::Catalog& catalog, const std::string& run) {
  std::error_code error;
  if (!std::filesystem::exists(store, error))
    return fail(ErrorCode::io, "there is no store at " + store.string() + "; `assay bench` makes one, --store names another");
  ServicesOptions options;
  options.mode = StoreMode::read_only;
  const auto services = ServerServices::open(store, catalog, Devices{}, options);
  if (!services) return fail(services.error());
  const Result<std::vector<tools::RunInfo>> runs = (*services)->list_runs();
  if (!runs) return fail(runs.error());
  if (runs->empty()) return fail(ErrorCode::not_found, "the store " + store.string() + " holds no run; `assay bench` makes one");
  const std::string handle = run.empty() ? runs->front().handle : run;
  const Result<tools::Scorecard> scorecard = (*services)->runs().scorecard(handle);
  if (scorecard) return make_report(*scorecard);
  if (scorecard.error().code != ErrorCode::not_found && scorecard.error().code != ErrorCode::invalid_argument) return fail(scorecard.error());
  return fail(ErrorCode::not_found, "unknown run '" + printable_line(handle, 60) + "'; the newest in " + store.string() + ": " + named(*runs));
}

int status_of_report_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kUnknownName;
  if (error.code == ErrorCode::io) return kNoInput;
  return kStoreUnusable;
}

}  // namespace assay::server
