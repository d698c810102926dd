#include "server/app/report_source.h"

#include <memory>
#include <system_error>
#include <vector>

#include "base/try.h"
#include "server/app/exit_status.h"
#include "server/report/model/text.h"
#include "server/runs/services.h"

namespace assay::server {
namespace {

constexpr std::size_t kNamedRuns = 5;

std::string named(const std::vector<tools::RunInfo>& runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.size() && i < kNamedRuns; ++i) {
    text += (i == 0 ? "" : ", ") + runs[i].handle + " (" + runs[i].request.agent + ", " +
            runs[i].request.model + ")";
  }
  return text;
}

Result<std::unique_ptr<ServerServices>> open_store(const std::filesystem::path& store,
                                                   const operators::Catalog& catalog) {
  std::error_code error;
  if (!std::filesystem::exists(store, error))
    return fail(ErrorCode::io, "there is no store at " + store.string() +
                                   "; `assay bench` makes one, --store names another");
  ServicesOptions options;
  options.mode = StoreMode::read_only;
  return ServerServices::open(store, catalog, Devices{}, options);
}

Status add_calls(Store& store, tools::Scorecard& scorecard) {
  ASSAY_TRY(calls, store.judged_calls(scorecard.run.handle));
  for (tools::OperatorScore& score : scorecard.operators)
    score.calls = std::move(calls[score.operator_name]);
  return {};
}

}  // namespace

Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog, const std::string& run) {
  return read_report(store, catalog,
                     run.empty() ? std::vector<std::string>() : std::vector<std::string>{run});
}

Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog,
                                   const std::vector<std::string>& runs) {
  ASSAY_TRY(samples, read_runs(store, catalog, runs));
  return report::make_report(samples, &catalog);
}

Result<std::vector<tools::Scorecard>> read_runs(const std::filesystem::path& store,
                                                const operators::Catalog& catalog,
                                                const std::vector<std::string>& runs) {
  ASSAY_TRY(services, open_store(store, catalog));
  ASSAY_TRY(known, services->store().runs());
  if (known.empty())
    return fail(ErrorCode::not_found,
                "the store " + store.string() + " contains no run; `assay bench` makes one");
  std::vector<tools::Scorecard> samples;
  for (const std::string& handle :
       runs.empty() ? std::vector<std::string>{known.front().handle} : runs) {
    Result<tools::Scorecard> scorecard = services->runs().scorecard(handle);
    if (scorecard) {
      ASSAY_RETURN_IF_ERROR(add_calls(services->store(), *scorecard));
      samples.push_back(std::move(*scorecard));
      continue;
    }
    if (scorecard.error().code != ErrorCode::not_found &&
        scorecard.error().code != ErrorCode::invalid_argument)
      return fail(scorecard.error());
    return fail(ErrorCode::not_found, "unknown run '" + report::printable_line(handle, 60) +
                                          "'; the newest in " + store.string() + ": " +
                                          named(known));
  }
  return samples;
}

Result<std::map<std::string, std::string>> read_sources(const std::filesystem::path& store,
                                                        const operators::Catalog& catalog,
                                                        const report::Report& report) {
  ASSAY_TRY(services, open_store(store, catalog));
  std::map<std::string, std::string> sources;
  for (const report::ReportRow& row : report.rows) {
    if (row.job.empty()) continue;
    ASSAY_TRY(source, services->store().source(row.job));
    sources.emplace(row.job, std::move(source));
  }
  return sources;
}

int status_of_report_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kUnknownName;
  if (error.code == ErrorCode::invalid_argument) return kUsage;
  if (error.code == ErrorCode::io) return kNoInput;
  return kStoreUnusable;
}

}  // namespace assay::server
