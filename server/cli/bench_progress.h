// What a bench shows while it works, on stderr: a line for each operator that is over, and on a terminal a bar below them with what is
// done, what it cost, and an estimate of the time and money that remain. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "server/cli/report_label.h"

namespace assay::server {

class BenchProgress {
 public:
  /// `total` attempts in all, of which `before` were finished by an earlier part of the bench. `priced`: whether costs mean anything.
  BenchProgress(std::FILE* stream, bool terminal, std::size_t total, std::size_t before, bool priced);
  ~BenchProgress();
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// `task` is what a line is about: an operator, with its sample when there are several.
  void step(const std::string& task, const std::string& what);
  void finished(const std::string& task, Label label, const std::string& explanation, double cost_usd);
  void unfinished(const std::string& task, const std::string& why);

 private:
  void clear_bar();
  void draw_bar();
  void print(const std::string& line);

  std::FILE* const stream_;
  const bool terminal_;
  const std::size_t total_, before_;
  const bool priced_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::map<std::string, std::string> running_;  // task -> step
  std::size_t done_ = 0, good_ = 0;
  double cost_usd_ = 0;
};

/// "41 s", "3 min 20 s", "2 h 5 min"
std::string duration_text(double seconds);

/// "[#####-----] 7/16, 4 pass, 41 s left, $0.12 of about $0.30"
std::string progress_text(std::size_t done, std::size_t before, std::size_t total, std::size_t good, double elapsed_s, double cost_usd, bool priced);

}  // namespace assay::server
