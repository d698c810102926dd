#include "server/bench/progress.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "server/report/model/format.h"

namespace assay::bench {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kExplanationCharacters = 110;
constexpr std::size_t kLabelColumn = 16;
constexpr std::size_t kDefaultColumns = 100;

std::string dollars(double amount) {
  char text[48];
  std::snprintf(text, sizeof(text), amount < 0.1 ? "$%.4f" : "$%.2f", amount);
  return text;
}

ProgressGroup sum_of(const std::vector<ProgressGroup>& groups) {
  ProgressGroup sum;
  for (const ProgressGroup& group : groups) {
    sum.total += group.total;
    sum.done += group.done;
    sum.good += group.good;
    sum.priced = sum.priced || group.priced;
    sum.cost_usd += group.priced ? group.cost_usd : 0;
    sum.walls_s.insert(sum.walls_s.end(), group.walls_s.begin(), group.walls_s.end());
  }
  return sum;
}

/// Returns the mean time of an attempt, where a very long time counts less (kMostMedians).
double usual_s(std::vector<double> walls_s) {
  const auto middle = walls_s.begin() + static_cast<std::ptrdiff_t>(walls_s.size() / 2);
  std::nth_element(walls_s.begin(), middle, walls_s.end());
  const double most = kMostMedians * *middle;
  double sum = 0;
  for (const double wall_s : walls_s) sum += std::min(wall_s, most);
  return sum / static_cast<double>(walls_s.size());
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col
                                                                               : kDefaultColumns;
}

}  // namespace

std::string seconds_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string estimate_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs) {
  const ProgressGroup all = sum_of(groups);
  if (all.done == 0) return "";
  double seconds = 0;
  double dollars_in_all = 0;
  for (const ProgressGroup& group : groups) {
    // The estimate of a pair without finished attempts uses the average time of all pairs.
    const ProgressGroup& timed = group.walls_s.size() >= kLeastTimed ? group : all;
    if (!timed.walls_s.empty())
      seconds += usual_s(timed.walls_s) * static_cast<double>(group.total - group.done);
    const ProgressGroup& paid = group.done > 0 ? group : all;
    if (group.priced)
      dollars_in_all +=
          paid.cost_usd / static_cast<double>(paid.done) * static_cast<double>(group.total);
  }
  std::string text;
  const std::size_t remaining = all.total - all.done;
  if (all.walls_s.size() >= kLeastTimed || (remaining == 0 && !all.walls_s.empty()))
    text = seconds_text(seconds / static_cast<double>(std::clamp<std::size_t>(
                                      remaining, 1, static_cast<std::size_t>(jobs)))) +
           " left";
  if (all.priced)
    text +=
        (text.empty() ? "" : ", ") + dollars(all.cost_usd) + " of about " + dollars(dollars_in_all);
  return text;
}

std::string progress_text(const std::vector<ProgressGroup>& groups, std::int64_t jobs) {
  const ProgressGroup all = sum_of(groups);
  const std::size_t filled = all.total == 0 ? kBarWidth : kBarWidth * all.done / all.total;
  const std::string estimate = estimate_text(groups, jobs);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '-') + "] " +
         std::to_string(all.done) + "/" + std::to_string(all.total) + ", " +
         std::to_string(all.good) + " pass" + (estimate.empty() ? "" : ", " + estimate);
}

BenchProgress::BenchProgress(std::FILE* stream, bool terminal, std::vector<ProgressGroup> groups,
                             std::int64_t jobs, std::size_t name_width)
    : stream_(stream),
      terminal_(terminal),
      jobs_(jobs),
      groups_(std::move(groups)),
      name_column_(name_width) {
  const MutexLock lock(mutex_);
  draw_bar();
}

BenchProgress::~BenchProgress() {
  const MutexLock lock(mutex_);
  clear_bar();
}

void BenchProgress::clear_bar() {
  if (terminal_) std::fputs("\r\x1b[K", stream_);
}

void BenchProgress::draw_bar() {
  if (!terminal_) return;
  std::string text = progress_text(groups_, jobs_);
  for (const auto& [task, what] : running_) text += " | " + task + ": " + what;
  std::fputs(report::printable_line(text, columns_of(stream_) - 2).c_str(), stream_);
  std::fflush(stream_);
}

void BenchProgress::print(const std::string& line) {
  clear_bar();
  std::fputs((line + "\n").c_str(), stream_);
  draw_bar();
  std::fflush(stream_);
}

void BenchProgress::step(const std::string& task, const std::string& what) {
  const MutexLock lock(mutex_);
  running_[task] = what;
  clear_bar();
  draw_bar();
}

void BenchProgress::notice(const std::string& task, const std::string& text) {
  const MutexLock lock(mutex_);
  running_[task] = "model, " + text;
  if (!terminal_)
    return print("        " + report::padded(task, name_column_) + " " +
                 report::padded("model", kLabelColumn) + " " +
                 report::printable_line(text, kExplanationCharacters));
  clear_bar();
  draw_bar();
}

void BenchProgress::finished(std::size_t group, const std::string& task, report::Label label,
                             const std::string& explanation, std::optional<double> cost_usd,
                             double wall_s) {
  const MutexLock lock(mutex_);
  running_.erase(task);
  ProgressGroup& its = groups_[group];
  ++its.done;
  using report::Label;
  its.good += label == Label::pass || label == Label::slow ? 1 : 0;
  its.priced = its.priced && cost_usd.has_value();
  its.cost_usd += cost_usd.value_or(0);
  its.walls_s.push_back(wall_s);
  const ProgressGroup all = sum_of(groups_);
  const std::string count = "[" + std::to_string(all.done) + "/" + std::to_string(all.total) + "] ";
  std::string line = count + report::padded(task, name_column_) + " " +
                     report::padded(std::string(to_string(label)), kLabelColumn) + " " +
                     report::printable_line(explanation, kExplanationCharacters);
  // Only a terminal has a progress bar, which contains the estimate. Without the bar, this line
  // contains the estimate.
  const std::string estimate = estimate_text(groups_, jobs_);
  if (!terminal_ && all.done < all.total && !estimate.empty()) line += "  (" + estimate + ")";
  print(line);
}

void BenchProgress::unfinished(const std::string& task, const std::string& why) {
  const MutexLock lock(mutex_);
  running_.erase(task);
  print("        " + report::padded(task, name_column_) + " " +
        report::padded("not finished", kLabelColumn) + " " + report::printable_line(why, 400));
}

}  // namespace assay::bench
