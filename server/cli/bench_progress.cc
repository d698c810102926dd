#include "server/cli/bench_progress.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace assay::server {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kExplanationCharacters = 110;
constexpr std::size_t kNameColumn = 22;
constexpr std::size_t kLabelColumn = 16;
constexpr std::size_t kDefaultColumns = 100;

std::string dollars(double amount) {
  char text[48];
  std::snprintf(text, sizeof(text), amount < 0.1 ? "$%.4f" : "$%.2f", amount);
  return text;
}

std::string padded(std::string text, std::size_t width) {
  text.append(width - std::min(width, width_of(text)), ' ');
  return text;
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : kDefaultColumns;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string progress_text(std::size_t done, std::size_t before, std::size_t total, std::size_t good, double elapsed_s, double cost_usd, bool priced) {
  const std::size_t over = std::min(total, before + done);
  const std::size_t filled = total == 0 ? kBarWidth : kBarWidth * over / total;
  std::string text = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '-') + "] " + std::to_string(over) + "/" + std::to_string(total) + ", " +
                     std::to_string(good) + " pass";
  if (done == 0) return text;
  const double share = static_cast<double>(total - over) / static_cast<double>(done);  // what remains, in units of what was done
  text += ", " + duration_text(elapsed_s * share) + " left";
  if (priced) text += ", " + dollars(cost_usd) + " of about " + dollars(cost_usd * (1 + share));
  return text;
}

BenchProgress::BenchProgress(std::FILE* stream, bool terminal, std::size_t total, std::size_t before, bool priced)
    : stream_(stream), terminal_(terminal), total_(total), before_(before), priced_(priced) {
  const std::lock_guard lock(mutex_);
  draw_bar();
}

BenchProgress::~BenchProgress() {
  const std::lock_guard lock(mutex_);
  clear_bar();
}

void BenchProgress::clear_bar() {
  if (terminal_) std::fputs("\r\x1b[K", stream_);
}

void BenchProgress::draw_bar() {
  if (!terminal_) return;
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string text = progress_text(done_, before_, total_, good_, elapsed_s, cost_usd_, priced_);
  for (const auto& [task, what] : running_) text += " | " + task + ": " + what;
  std::fputs(printable_line(text, columns_of(stream_) - 2).c_str(), stream_);
  std::fflush(stream_);
}

void BenchProgress::print(const std::string& line) {
  clear_bar();
  std::fputs((line + "\n").c_str(), stream_);
  draw_bar();
  std::fflush(stream_);
}

void BenchProgress::step(const std::string& task, const std::string& what) {
  const std::lock_guard lock(mutex_);
  running_[task] = what;
  clear_bar();
  draw_bar();
}

void BenchProgress::finished(const std::string& task, Label label, const std::string& explanation, double cost_usd) {
  const std::lock_guard lock(mutex_);
  running_.erase(task);
  ++done_;
  good_ += label == Label::pass || label == Label::slow ? 1 : 0;
  cost_usd_ += cost_usd;
  const std::string count = "[" + std::to_string(before_ + done_) + "/" + std::to_string(total_) + "] ";
  std::string line =
      count + padded(task, kNameColumn) + " " + padded(std::string(to_string(label)), kLabelColumn) + " " + printable_line(explanation, kExplanationCharacters);
  if (!terminal_ && done_ < total_ - before_) {  // without a bar the estimate goes with the line
    const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double share = static_cast<double>(total_ - before_ - done_) / static_cast<double>(done_);
    line +=
        "  (" + duration_text(elapsed_s * share) + " left" + (priced_ ? ", " + dollars(cost_usd_) + " of about " + dollars(cost_usd_ * (1 + share)) : "") + ")";
  }
  print(line);
}

void BenchProgress::unfinished(const std::string& task, const std::string& why) {
  const std::lock_guard lock(mutex_);
  running_.erase(task);
  print("        " + padded(task, kNameColumn) + " " + padded("not finished", kLabelColumn) + " " + printable_line(why, 400));
}

}  // namespace assay::server
