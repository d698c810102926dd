// PyTorchTimes keeps the times of PyTorch eager that grades measured, so that not every grade
// measures them again.
//
//   PyTorchTimes times;
//   times.put(key, 52'000);  // after each measurement
//   const PyTorchTimes::Known known = times.find(key);
//   if (known.enough()) record.pytorch_ns = *known.shortest_ns;  // else it is measured
//
// The host launches PyTorch's operations one after the other, so a busy processor or a hot GPU
// makes PyTorch's time longer, and hardly anything makes it shorter. A client can cause both,
// with other jobs or with kernels that heat. A speed-up over PyTorch is a reward (`pytorch` of
// `/v1/evaluate`), so one time that was measured at such a moment must not count for all grades of
// an hour. Therefore several grades measure, and the shortest time counts, also for a grade that
// has measured a longer one.
//
// Thread-safe. There is one entry for each case of an operator, with at most kEnough times.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace assay::sandbox {

class PyTorchTimes {
 public:
  static constexpr std::chrono::minutes kMostAge{60};
  /// The number of measurements after which a grade need not measure again.
  static constexpr std::size_t kEnough = 3;

  struct Known {
    std::optional<double> shortest_ns;  // time between the timer's marks, including their overhead
    std::size_t measured = 0;           // number of measurements
    bool enough() const { return measured >= kEnough; }
  };

  /// The clock must outlive the object.
  explicit PyTorchTimes(const Clock& clock = system_clock()) : clock_(clock) {}

  /// Returns what is known from measurements that are at most kMostAge old. The key is that of
  /// BaselineCache.
  Known find(const std::string& key) const;
  /// `at_ns` is when the time was measured, by the clock.
  void put(const std::string& key, double ns, std::int64_t at_ns);
  void put(const std::string& key, double ns) { put(key, ns, clock_.monotonic_ns()); }

 private:
  struct Measured {
    double ns = 0;
    std::int64_t at_ns = 0;  // by the clock
  };
  bool is_young(const Measured& one) const;

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, std::vector<Measured>> times_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
