#include "sandbox/launch/counters.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "sandbox/launch/csv_cells.h"
#include "sandbox/launch/launching.h"
#include "sandbox/launch/rocprof_report.h"
#include "sandbox/launcher/process/ncu.h"
#include "sandbox/launcher/process/rocprof.h"
#include "sandbox/pool/launcher_client.h"

namespace assay::sandbox {
namespace {

// The time limit for a profiler in milliseconds, from its start to its report. ncu runs each kernel
// about ten times, and rocprofv3 is started once for each pass.
constexpr std::int64_t kCountersWallMs = 60'000;
constexpr std::size_t kMaxRows = 4'096;
constexpr std::string_view kRefused = "ERR_NVGPUCTRPERM";
constexpr std::size_t kStalls = 6;

/// Parses a number such as "1,234.5". Returns nothing for "n/a".
std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

using Row = std::map<std::string, std::string, std::less<>>;  // column name -> cell

std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  std::vector<std::string> names;
  bool units = false;
  while (!text.empty() && rows.size() < kMaxRows) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with('"')) continue;
    std::vector<std::string> cells = csv_cells(line);
    if (names.empty()) {
      if (std::find(cells.begin(), cells.end(), "Kernel Name") != cells.end())
        names = std::move(cells);
      units = true;
    } else if (units) {
      units = false;  // this line has the units and is skipped
    } else if (cells.size() == names.size()) {
      Row row;
      for (std::size_t i = 0; i < cells.size(); ++i) row[names[i]] = std::move(cells[i]);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::optional<double> value_in(const Row& row, std::string_view column) {
  const auto found = row.find(column);
  return found == row.end() ? std::nullopt : number_of(found->second);
}

std::string limiter_of(const std::map<std::string, double>& values) {
  std::string limiter;
  double least = 0;
  for (const auto& [name, shown] :
       {std::pair("limit_warps", "warps"), std::pair("limit_blocks", "blocks"),
        std::pair("limit_registers", "registers"), std::pair("limit_shared", "shared memory")}) {
    const auto found = values.find(name);
    if (found == values.end() || (!limiter.empty() && found->second >= least)) continue;
    least = found->second;
    limiter = shown;
  }
  return limiter;
}

std::vector<StallShare> stalls_of(const Row& row) {
  std::vector<StallShare> stalls;
  double sum = 0;
  for (const std::string_view reason : kNcuStalls) {
    const std::string column = std::string(kNcuStallPrefix).append(reason).append(kNcuStallSuffix);
    if (const auto value = value_in(row, column); value && *value > 0) {
      stalls.push_back({std::string(reason), *value});
      sum += *value;
    }
  }
  for (StallShare& stall : stalls) stall.share /= sum;
  std::sort(stalls.begin(), stalls.end(),
            [](const StallShare& a, const StallShare& b) { return a.share > b.share; });
  if (stalls.size() > kStalls) stalls.resize(kStalls);
  return stalls;
}

KernelCounters counters_of(const Row& row, const std::string& kernel) {
  KernelCounters counters;
  counters.kernel = kernel;
  for (const NcuMetric& metric : kNcuMetrics) {
    if (const auto value = value_in(row, metric.ncu))
      counters.values[std::string(metric.name)] = *value;
  }
  std::map<std::string, double>& values = counters.values;
  if (values.contains("shared_conflicts") && values.contains("shared_wavefronts") &&
      values["shared_wavefronts"] > 0)
    values["shared_conflict_share"] = values["shared_conflicts"] / values["shared_wavefronts"];
  counters.limiter = limiter_of(values);
  for (const char* limit : {"limit_warps", "limit_blocks", "limit_registers", "limit_shared"})
    values.erase(limit);
  counters.stalls = stalls_of(row);
  return counters;
}

Error missing_report(std::string_view text) {
  if (text.find(kRefused) != text.npos)
    return {ErrorCode::permission_denied,
            "the GPU's driver does not let users read its counters (ERR_NVGPUCTRPERM); "
            "the driver option NVreg_RestrictProfilingToAdminUsers=0 allows it"};
  const std::string messages = ncu_messages(text);
  return {ErrorCode::unavailable,
          "ncu gave no report of its kernels" + (messages.empty() ? messages : ": " + messages)};
}

}  // namespace

namespace {

/// Performs the plan once more under a profiler. Returns the profiler's report.
Result<std::string> report_of(JobExecution& run, const CounterTool& tool,
                              const PreparedJob& prepared, const std::string& plan, int output_fd,
                              const LauncherOptions& options, const Deadline& deadline) {
  Result<std::unique_ptr<LauncherClient>> launcher =
      LauncherClient::start(tool.config, tool.spawner, options, deadline);
  if (!launcher) return fail(launcher.error());
  const LaunchFiles files =
      launch_files({}, prepared, 0, output_fd, run.job().limits.gpu_memory_bytes);
  Result<LaunchOutcome> outcome = (*launcher)->launch(files.request, plan, files.fds, deadline);
  if (!outcome) return fail(outcome.error());
  if (const auto* failure = std::get_if<LaunchFailure>(&*outcome))
    return fail(ErrorCode::unavailable,
                "the plan did not run under the profiler: " + failure->error.message);
  return (*launcher)->finish(deadline);
}

/// Reads the counters of AMD's GPUs, one run for each pass.
Result<std::vector<KernelCounters>> count_with_rocprof(JobExecution& run, const CounterTool& tool,
                                                       const PreparedJob& prepared,
                                                       const std::string& plan, int output_fd,
                                                       const Deadline& deadline) {
  if (tool.config.rocprof.empty())
    return fail(ErrorCode::unavailable,
                "rocprofv3 was not found on this machine; it is part of ROCm 6.2 and newer "
                "(package rocprofiler-sdk), and --rocprofv3 sets its path");
  std::vector<std::string> reports;
  for (std::size_t pass = 0; pass < kRocprofPasses.size(); ++pass) {
    Result<std::string> report =
        report_of(run, tool, prepared, plan, output_fd,
                  {.device = tool.device,
                   .driver = tool.driver,
                   .rocprof = LauncherRocprof{tool.config.rocprof, static_cast<int>(pass)}},
                  deadline);
    if (!report) return fail(report.error());
    reports.push_back(std::move(*report));
  }
  Result<std::vector<KernelCounters>> counters =
      read_rocprof_reports(reports, run.verdict().kernels, tool.bytes_per_s);
  if (counters) {
    std::string all;
    for (const std::string& report : reports) all += report;
    run.verdict().artifacts.push_back({"counters", prepared.cases.front().id, std::move(all)});
  }
  return counters;
}

}  // namespace

Result<std::vector<KernelCounters>> count_kernels(JobExecution& run, const CounterTool& tool,
                                                  const PreparedJob& prepared,
                                                  const std::string& plan, int output_fd) {
  const Deadline deadline = run.deadline(kCountersWallMs);
  if (tool.driver == "hip")
    return count_with_rocprof(run, tool, prepared, plan, output_fd, deadline);
  if (tool.config.ncu.empty())
    return fail(ErrorCode::unavailable,
                "Nsight Compute (ncu) was not found on this machine; --ncu sets its path");
  Result<std::string> report =
      report_of(run, tool, prepared, plan, output_fd,
                {.device = tool.device, .driver = tool.driver, .ncu = tool.config.ncu}, deadline);
  if (!report) return fail(report.error());
  Result<std::vector<KernelCounters>> counters = read_ncu_report(*report, run.verdict().kernels);
  if (counters)
    run.verdict().artifacts.push_back({"counters", prepared.cases.front().id, std::move(*report)});
  return counters;
}

Result<std::vector<KernelCounters>> read_ncu_report(std::string_view text,
                                                    const std::vector<KernelReport>& wanted) {
  const std::vector<Row> rows = rows_of(text);
  std::vector<KernelCounters> found;
  for (const KernelReport& kernel : wanted) {
    const Row* longest = nullptr;
    for (const Row& row : rows) {
      const auto name = row.find("Kernel Name");
      if (name == row.end() || name->second.substr(0, name->second.find('(')) != kernel.name)
        continue;
      const auto duration = [](const Row& of) {
        return value_in(of, "gpu__time_duration.sum").value_or(0);
      };
      if (longest == nullptr || duration(row) > duration(*longest)) longest = &row;
    }
    const bool known = std::any_of(found.begin(), found.end(), [&](const KernelCounters& one) {
      return one.kernel == kernel.name;
    });
    if (longest != nullptr && !known) found.push_back(counters_of(*longest, kernel.name));
  }
  if (found.empty()) return tl::unexpected(missing_report(text));
  return found;
}

}  // namespace assay::sandbox
