// WorkMetrics counts calls, refused requests and jobs for GET /metrics. No label names a principal
// or anything else that a client can invent, so the number of time series is bounded.
//
//   WorkMetrics metrics;
//   metrics.add(observed, facts_of(observed));
//   metrics.write(text);  // a MetricsText (server/mcp/http/http_metrics.h)
//
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "server/mcp/core/call_observer.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/http_record.h"
#include "server/observe/call_facts.h"
#include "server/runs/job_service.h"

namespace assay::server {

/// The upper bounds of the buckets of all histograms of this file, in seconds.
inline constexpr std::array kSecondsBounds = {0.005, 0.025, 0.1,  0.25, 0.5,  1.0,
                                              2.5,   5.0,   10.0, 30.0, 60.0, 300.0};

class WorkMetrics {
 public:
  void add(const mcp::ObservedCall& observed, const CallFacts& facts);
  void add(const mcp::HttpRecord& record);
  void add(const EndedJob& ended);
  void write(mcp::MetricsText& text) const;

 private:
  struct Histogram {
    std::array<std::uint64_t, kSecondsBounds.size() + 1> buckets{};
    double seconds = 0;

    void add(double value);
  };
  using Histograms = std::map<std::string, Histogram, std::less<>>;
  template <std::size_t kLabels>
  using Counter = std::map<std::array<std::string, kLabels>, std::uint64_t>;

  static void write(mcp::MetricsText& text, std::string_view name, std::string_view help,
                    std::string_view label, const Histograms& histograms);

  mutable Mutex mutex_;
  Counter<5> calls_ ASSAY_GUARDED_BY(mutex_);    // method, tool, principal_class, outcome, error
  Counter<1> refused_ ASSAY_GUARDED_BY(mutex_);  // reason
  Counter<4> jobs_ ASSAY_GUARDED_BY(mutex_);     // tool, device, outcome, error
  Histograms tools_ ASSAY_GUARDED_BY(mutex_);
  Histograms job_times_ ASSAY_GUARDED_BY(mutex_);                        // by tool
  Histograms queue_times_ ASSAY_GUARDED_BY(mutex_);                      // by device
  Histograms stage_times_ ASSAY_GUARDED_BY(mutex_);                      // by stage
  Histograms launch_times_ ASSAY_GUARDED_BY(mutex_);                     // by part of the launches
  Counter<2> contexts_ ASSAY_GUARDED_BY(mutex_);                         // device, state
  std::map<std::string, double> busy_seconds_ ASSAY_GUARDED_BY(mutex_);  // by device
};

}  // namespace assay::server
