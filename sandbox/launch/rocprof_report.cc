#include "sandbox/launch/rocprof_report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "sandbox/launch/csv_cells.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t kMaxReportLines = 65'536;
constexpr std::size_t kShownChars = 300;
constexpr double kKilobyte = 1024;               // of FETCH_SIZE and WRITE_SIZE
constexpr std::string_view kDescriptor = ".kd";  // the end of the name of a kernel's descriptor

/// A counter that becomes a value of a verdict as it is.
struct RocprofMetric {
  std::string_view name;  // in a verdict
  std::string_view rocprof;
  double factor = 1;
};
constexpr std::array<RocprofMetric, 6> kMetrics = {{{"valu_pct", "VALUBusy"},
                                                    {"tensor_pct", "MfmaUtil"},
                                                    {"occupancy_pct", "OccupancyPercent"},
                                                    {"wavefronts", "SQ_WAVES"},
                                                    {"dram_read_bytes", "FETCH_SIZE", kKilobyte},
                                                    {"dram_write_bytes", "WRITE_SIZE", kKilobyte}}};

/// One launch of a kernel, with its counters by AMD's names.
struct CountedLaunch {
  std::string kernel;
  double start_ns = 0, end_ns = 0, registers = 0;
  std::map<std::string, double, std::less<>> counters;
};

std::optional<double> finite_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

/// A table of a report: the positions of its columns.
class Columns {
 public:
  explicit Columns(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) places_[names[i]] = i;
    count_ = names.size();
  }
  bool whole() const {
    constexpr std::array<const char*, 8> kNeeded = {
        "Dispatch_Id",  "Kernel_Name",   "VGPR_Count",      "Accum_VGPR_Count",
        "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp"};
    return std::all_of(kNeeded.begin(), kNeeded.end(),
                       [this](const char* name) { return places_.contains(name); });
  }
  std::size_t count() const { return count_; }
  const std::string& in(const std::vector<std::string>& cells, const char* name) const {
    return cells[places_.at(name)];
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::size_t count_ = 0;
};

void add_row(const Columns& columns, const std::vector<std::string>& cells,
             std::map<std::int64_t, CountedLaunch>& launches) {
  const auto number = [&](const char* name) { return finite_number(columns.in(cells, name)); };
  const auto id = number("Dispatch_Id"), value = number("Counter_Value");
  const auto start = number("Start_Timestamp"), end = number("End_Timestamp");
  if (!id || !value || !start || !end || std::abs(*id) > 1e15) return;
  CountedLaunch& launch = launches[static_cast<std::int64_t>(*id)];
  launch.kernel = columns.in(cells, "Kernel_Name");
  if (launch.kernel.ends_with(kDescriptor))
    launch.kernel.resize(launch.kernel.size() - kDescriptor.size());
  launch.start_ns = *start;
  launch.end_ns = *end;
  launch.registers = number("VGPR_Count").value_or(0) + number("Accum_VGPR_Count").value_or(0);
  launch.counters[columns.in(cells, "Counter_Name")] = *value;
}

/// Returns the launches of a report in the order in which they were queued.
std::vector<CountedLaunch> launches_in(std::string_view text) {
  std::map<std::int64_t, CountedLaunch> launches;
  std::optional<Columns> columns;
  for (std::size_t line = 0; line < kMaxReportLines && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> cells = csv_cells(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!columns) {
      Columns found(cells);
      if (found.whole()) columns = std::move(found);
    } else if (cells.size() == columns->count()) {
      add_row(*columns, cells, launches);
    }
  }
  std::vector<CountedLaunch> ordered;
  ordered.reserve(launches.size());
  for (auto& [id, launch] : launches) ordered.push_back(std::move(launch));
  return ordered;
}

std::vector<CountedLaunch> launches_of(const std::vector<CountedLaunch>& all,
                                       const KernelReport& kernel) {
  const std::string& symbol = kernel.symbol.empty() ? kernel.name : kernel.symbol;
  std::vector<CountedLaunch> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const CountedLaunch& one) { return one.kernel == symbol; });
  return found;
}

/// Adds what is computed from several counters.
void add_computed(const CountedLaunch& launch, double duration_ns, double bytes_per_s,
                  std::map<std::string, double>& values) {
  const auto counter = [&](const char* name) {
    const auto found = launch.counters.find(name);
    return found == launch.counters.end() ? std::nullopt : std::optional(found->second);
  };
  const auto value = [&](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  const auto hits = counter("TCC_HIT_sum"), misses = counter("TCC_MISS_sum");
  if (hits && misses && *hits + *misses > 0) values["l2_hit_pct"] = 100 * *hits / (*hits + *misses);
  const auto conflicts = counter("SQ_LDS_BANK_CONFLICT"), active = counter("SQ_LDS_IDX_ACTIVE");
  if (conflicts && active && *active > 0) values["shared_conflict_share"] = *conflicts / *active;
  const auto valu = value("valu_pct"), matrix = value("tensor_pct");
  if (valu && matrix) values["sm_pct"] = std::max(*valu, *matrix);
  const auto read = value("dram_read_bytes"), written = value("dram_write_bytes");
  if (read && written && bytes_per_s > 0 && duration_ns > 0)
    values["memory_pct"] = values["dram_pct"] =
        100 * (*read + *written) / (bytes_per_s * duration_ns / 1e9);
}

Error without_counters(const std::vector<std::string>& reports) {
  std::string shown;
  for (const std::string& report : reports) shown += report;
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  if (shown.size() > kShownChars) shown = shown.substr(0, kShownChars) + "...";
  return {ErrorCode::unavailable, "rocprofv3 gave no counters of these kernels" +
                                      (shown.empty() ? shown : "; it printed: " + shown)};
}

}  // namespace

Result<std::vector<KernelCounters>> read_rocprof_reports(const std::vector<std::string>& reports,
                                                         const std::vector<KernelReport>& wanted,
                                                         double bytes_per_s) {
  std::vector<std::vector<CountedLaunch>> passes;
  for (const std::string& report : reports) passes.push_back(launches_in(report));
  std::vector<KernelCounters> found;
  for (const KernelReport& kernel : wanted) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const KernelCounters& one) {
      return one.kernel == kernel.name;
    });
    if (known || passes.empty()) continue;
    const std::vector<CountedLaunch> first = launches_of(passes.front(), kernel);
    if (first.empty()) continue;
    const auto duration = [](const CountedLaunch& one) { return one.end_ns - one.start_ns; };
    const auto longest =
        std::max_element(first.begin(), first.end(),
                         [&](const auto& a, const auto& b) { return duration(a) < duration(b); });
    CountedLaunch merged = *longest;
    const auto number = static_cast<std::size_t>(longest - first.begin());
    for (std::size_t pass = 1; pass < passes.size(); ++pass) {
      const std::vector<CountedLaunch> same = launches_of(passes[pass], kernel);
      if (same.size() == first.size())
        merged.counters.insert(same[number].counters.begin(), same[number].counters.end());
    }
    KernelCounters counters;
    counters.kernel = kernel.name;
    counters.values["duration_ns"] = duration(merged);
    counters.values["registers"] = merged.registers;
    for (const RocprofMetric& metric : kMetrics) {
      if (const auto one = merged.counters.find(metric.rocprof); one != merged.counters.end())
        counters.values[std::string(metric.name)] = one->second * metric.factor;
    }
    add_computed(merged, duration(merged), bytes_per_s, counters.values);
    found.push_back(std::move(counters));
  }
  if (found.empty()) return tl::unexpected(without_counters(reports));
  return found;
}

}  // namespace assay::sandbox
