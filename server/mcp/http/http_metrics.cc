#include "server/mcp/http/http_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/files.h"

namespace assay::mcp {
namespace {

constexpr std::array kStatusCodes = {200, 202, 204, 400, 401, 403, 404, 405, 406,
                                     411, 413, 414, 415, 429, 431, 500, 503, 505};

/// Returns field number `index` of a line whose fields are separated by spaces. The first field is
/// number 1.
std::string field(const std::string& line, int index) {
  std::size_t start = 0;
  for (int i = 1; i < index && start != std::string::npos; ++i)
    start =
        line.find(' ', start) == std::string::npos ? std::string::npos : line.find(' ', start) + 1;
  return start == std::string::npos ? "" : line.substr(start, line.find(' ', start) - start);
}

double number(const std::string& text) {
  return text.empty() ? 0 : std::strtod(text.c_str(), nullptr);
}

/// Returns the time at which the machine started, in seconds since 1970 (proc(5), /proc/stat).
double boot_time() {
  constexpr std::string_view kKey = "\nbtime ";
  const std::string stat = read_small_file("/proc/stat");
  const std::size_t at = stat.find(kKey);
  return at == std::string::npos ? 0
                                 : number(stat.substr(at + kKey.size(), stat.find('\n', at + 1)));
}

/// Returns the number of descriptors that are open. The one with which the folder is read does not
/// count.
double open_descriptors() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  double count = -1;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) ++count;
  return count;
}

/// Writes the metrics of the process. The names and meanings are those of the client libraries of
/// Prometheus.
void write_process(MetricsText& out) {
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string memory = read_small_file("/proc/self/statm");
  const auto stat = parse_process_stat(read_small_file("/proc/self/stat"));
  const auto fact = [&stat](StatField field) {
    return static_cast<double>(stat ? stat->value(field).value_or(0) : 0);
  };
  const double uptime = number(field(read_small_file("/proc/uptime"), 1));
  const double since_boot = fact(StatField::start_ticks) / ticks;
  out.gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
            number(field(memory, 2)) * page);
  out.gauge("process_threads", "Number of threads.", fact(StatField::threads));
  out.family("process_cpu_seconds_total", "counter",
             "Total user and system CPU time spent in seconds.");
  out.sample("process_cpu_seconds_total", {},
             (fact(StatField::user_ticks) + fact(StatField::system_ticks)) / ticks);
  out.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
            boot_time() + since_boot);
  out.gauge("process_open_fds", "Number of open file descriptors.", open_descriptors());
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0)
    out.gauge("process_max_fds", "Maximum number of open file descriptors.",
              static_cast<double>(descriptors.rlim_cur));
  out.gauge("assay_uptime_seconds", "Seconds since the process started.", uptime - since_boot);
}

/// Returns the value of a label in escaped form.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

/// Returns the shortest text from which a parser gets exactly this number again. The text does not
/// depend on the locale.
std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

void HttpMetrics::count_response(int status) {
  static_assert(kStatusCodes.size() + 1 == kStatuses);
  const auto known = std::find(kStatusCodes.begin(), kStatusCodes.end(), status);
  responses_[static_cast<std::size_t>(known - kStatusCodes.begin())].fetch_add(
      1, std::memory_order_relaxed);
}

void HttpMetrics::write(MetricsText& out, const MessageCounts& counts) const {
  const MessageCounts::Snapshot handled = counts.snapshot();
  out.family("assay_messages_total", "counter",
             "Messages that were handled, by method and outcome.");
  for (const auto& [method, ending, count] : handled.messages)
    out.sample("assay_messages_total", {{"method", method}, {"outcome", ending}},
               static_cast<double>(count));
  out.family("assay_tool_calls_total", "counter",
             "Calls of a tool that were answered, by tool and outcome.");
  for (const auto& [tool, ending, count] : handled.tool_calls)
    out.sample("assay_tool_calls_total", {{"tool", tool}, {"outcome", ending}},
               static_cast<double>(count));
  out.family("assay_message_seconds", "histogram", "Time to handle a message, by method.");
  for (const auto& [method, buckets, seconds] : handled.times) {
    std::uint64_t total = 0;
    for (const auto& [upper_bound, count] : buckets) {
      total += count;
      out.sample("assay_message_seconds_bucket", {{"method", method}, {"le", upper_bound}},
                 static_cast<double>(total));
    }
    out.sample("assay_message_seconds_sum", {{"method", method}}, seconds);
    out.sample("assay_message_seconds_count", {{"method", method}}, static_cast<double>(total));
  }
  out.family("assay_http_responses_total", "counter", "HTTP responses by status.");
  for (std::size_t i = 0; i < kStatuses; ++i) {
    const std::uint64_t count = responses_[i].load(std::memory_order_relaxed);
    const std::string code = i < kStatusCodes.size() ? std::to_string(kStatusCodes[i]) : "other";
    if (count > 0)
      out.sample("assay_http_responses_total", {{"code", code}}, static_cast<double>(count));
  }
  write_process(out);
}

void MetricsText::family(std::string_view name, std::string_view type, std::string_view help) {
  text_.append("# HELP ")
      .append(name)
      .append(" ")
      .append(help)
      .append("\n# TYPE ")
      .append(name)
      .append(" ")
      .append(type)
      .append("\n");
}

void MetricsText::sample(std::string_view name, const Labels& labels, double value) {
  text_.append(name);
  char before = '{';
  for (const auto& [key, text] : labels) {
    text_ += before;
    text_.append(key).append("=\"").append(escaped(text)).append("\"");
    before = ',';
  }
  if (!labels.empty()) text_ += '}';
  text_.append(" ").append(number(value)).append("\n");
}

void MetricsText::gauge(std::string_view name, std::string_view help, double value) {
  family(name, "gauge", help);
  sample(name, {}, value);
}

}  // namespace assay::mcp
