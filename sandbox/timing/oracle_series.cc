#include "sandbox/timing/oracle_series.h"

#include <cmath>

namespace assay::sandbox {

bool still_holds(const Timing& earlier, const Timing& block) {
  const double now = block.median_ns, difference = std::abs(earlier.median_ns - now);
  return now > 0 &&
         known_well_enough({.median = now, .low = now - difference, .high = now + difference}) &&
         !is_throttled(block, earlier.clock_mhz) && !is_throttled(earlier, block.clock_mhz);
}

void OracleSeries::look() {
  if (!earlier_ || samples_.empty()) return;
  if (still_holds(*earlier_, samples_.timing())) {
    confirmed_ = true;
    age_ms_ = earlier_->age_ms;
    samples_.add(*earlier_, samples_.chosen());
  }
  earlier_.reset();
}

std::optional<Timing> OracleSeries::timing() const {
  if (samples_.empty()) return std::nullopt;
  Timing timing = samples_.timing();
  timing.age_ms = age_ms_;
  return timing;
}

}  // namespace assay::sandbox
