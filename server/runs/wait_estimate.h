// How long a queued job will wait, judged by how long the last ones took. A rough figure for people
// and agents, never for a decision. Not thread-safe.
//
//   WaitEstimate estimate(2);                 // two workers
//   estimate.add(800);
//   estimate.ms(3)  ->  1200                  // third in the queue
#pragma once

#include <cstdint>
#include <optional>

namespace assay::server {

class WaitEstimate {
 public:
  explicit WaitEstimate(int workers) : workers_(workers) {}

  void add(std::int64_t job_ms) {
    mean_ms_ = mean_ms_ ? *mean_ms_ + kWeight * (static_cast<double>(job_ms) - *mean_ms_)
                        : static_cast<double>(job_ms);
  }

  /// Until a job at `position` (from 1) starts; nothing before the first job has ended.
  std::optional<std::int64_t> ms(std::size_t position) const {
    if (!mean_ms_) return std::nullopt;
    return static_cast<std::int64_t>(*mean_ms_ * static_cast<double>(position) / workers_);
  }

 private:
  static constexpr double kWeight = 0.2;  // of the newest job

  const int workers_;
  std::optional<double> mean_ms_;
};

}  // namespace assay::server
