// TimedStep says in the log how long a step of a timing session took. While the steps run, the job
// has the GPU alone, so they show what other jobs wait for. The line has the level trace and the
// message "timing step", for example with operator=softmax step=oracle ms=12.5 run_ms=8.1.
//
//   TimedStep step("softmax", "oracle");  // until the end of the scope
//   step.has_launched(launched.parts);    // if the step is a launch: where its time went
//
// measurements/mcp/gpu_lock.py adds the steps up. Each object belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "sandbox/wire/launch_parts.h"

namespace assay::sandbox {

class TimedStep {
 public:
  /// `name` must outlive the object.
  TimedStep(std::string operator_name, const char* name)
      : operator_name_(std::move(operator_name)), name_(name) {}
  TimedStep(const TimedStep&) = delete;
  TimedStep& operator=(const TimedStep&) = delete;
  ~TimedStep() {
    const std::int64_t took_ns = system_clock().monotonic_ns() - begin_ns_;
    log::trace("timing step", {{"operator", operator_name_},
                               {"step", name_},
                               {"ms", static_cast<double>(took_ns) / kNsPerMs},
                               {"allocate_ms", parts_[LaunchPart::allocate]},
                               {"load_ms", parts_[LaunchPart::load]},
                               {"map_ms", parts_[LaunchPart::map]},
                               {"fill_ms", parts_[LaunchPart::fill]},
                               {"run_ms", parts_[LaunchPart::run]},
                               {"check_ms", parts_[LaunchPart::check]},
                               {"copy_ms", parts_[LaunchPart::copy]},
                               {"free_ms", parts_[LaunchPart::free]}});
  }
  void has_launched(const LaunchParts& parts) { parts_ = parts; }

 private:
  const std::string operator_name_;
  const char* const name_;
  LaunchParts parts_;
  const std::int64_t begin_ns_ = system_clock().monotonic_ns();
};

}  // namespace assay::sandbox
