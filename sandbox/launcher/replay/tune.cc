#include "sandbox/launcher/replay/tune.h"

#include <optional>
#include <vector>

#include "base/median.h"
#include "sandbox/launcher/timing/timing.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

class Tuner {
 public:
  Tuner(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
        const Clock& clock)
      : gpu_(gpu),
        program_(program),
        restore_(restore),
        clock_(clock),
        end_(clock.monotonic_ns() + kMaxTuneMs * kNsPerMs) {}

  LaunchStatus answer(std::size_t question) {
    std::optional<double> best;
    std::optional<LaunchError> refusal;
    for (std::size_t i = 0; i < program_.questions()[question].size(); ++i) {
      if (best && clock_.monotonic_ns() >= end_) break;
      LaunchResult<double> ns = time(question, i, best);
      if (!ns && ns.error().kind != LaunchErrorKind::launch_failure)
        return tl::unexpected(ns.error());
      if (!ns) {
        refusal = ns.error();
      } else if (!best || *ns < *best) {
        best = *ns;
        program_.answer(question, i);
      }
    }
    if (!best && refusal) return tl::unexpected(*refusal);
    return {};
  }

 private:
  LaunchResult<double> time(std::size_t question, std::size_t alternative,
                            std::optional<double> best) {
    LaunchResult<double> first = sample(question, alternative);
    if (!first || (best && *first > kClearlySlower * *best)) return first;
    std::vector<double> samples;
    for (std::int64_t i = 0; i < kTuneSamples; ++i) {
      LaunchResult<double> ns = sample(question, alternative);
      if (!ns) return ns;
      samples.push_back(*ns);
    }
    return median_interval(samples).median;
  }

  LaunchResult<double> sample(std::size_t question, std::size_t alternative) {
    if (LaunchStatus s = restore_(); !s) return tl::unexpected(s.error());
    if (LaunchStatus s = program_.enqueue_before(question); !s) return tl::unexpected(s.error());
    if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
    const auto enqueue = [&] { return program_.enqueue_alternative(question, alternative); };
    if (LaunchStatus s = queue_timed(gpu_, program_.operations(), enqueue); !s)
      return tl::unexpected(s.error());
    if (LaunchStatus s = gpu_.synchronize(); !s) return tl::unexpected(s.error());
    return gpu_.elapsed_ns();
  }

  GpuDriver& gpu_;
  Program& program_;
  const std::function<LaunchStatus()>& restore_;
  const Clock& clock_;
  std::int64_t end_;
};

}  // namespace

LaunchStatus tune(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
                  const Clock& clock) {
  Tuner tuner(gpu, program, restore, clock);
  for (std::size_t question = 0; question < program.questions().size(); ++question) {
    if (LaunchStatus s = tuner.answer(question); !s) return s;
  }
  return {};
}

}  // namespace assay::sandbox
