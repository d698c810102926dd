#include "sandbox/launcher/trusted_kernels.h"

#include <array>
#include <span>
#include <string>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::uint32_t kThreads = 1024;
constexpr std::uint32_t kRegisters = 56;  // live at once: with the others that it needs, all of a multiprocessor's at 1,024 threads
constexpr std::uint32_t kWavesOfBlocks = 2;
constexpr std::size_t kReadings = 2;  // cycles, nanoseconds

/// Each block takes a multiprocessor's whole shared memory, fills it, and then holds kRegisters values per thread at once.
std::string scrub_text() {
  std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry assay_scrub(.param .u32 bytes)
.maxntid 1024, 1, 1
{
  .reg .pred done;
  .reg .b32 at, end, address, poison;
  .reg .b32 held<)" + std::to_string(kRegisters) +
                     R"(>;
  ld.param.u32 end, [bytes];
  mov.b32 poison, -1;
  mov.u32 at, %tid.x;
  shl.b32 at, at, 2;
NEXT:
  setp.ge.u32 done, at, end;
  @done bra FILLED;
  mov.u32 address, room;
  add.u32 address, address, at;
  st.volatile.shared.u32 [address], poison;
  add.u32 at, at, 4096;
  bra NEXT;
FILLED:
  bar.sync 0;
  mov.u32 address, room;
)";
  for (std::uint32_t i = 0; i < kRegisters; ++i) text += "  ld.volatile.shared.u32 held" + std::to_string(i) + ", [address+" + std::to_string(4 * i) + "];\n";
  for (std::uint32_t i = 0; i < kRegisters; ++i) text += "  st.volatile.shared.u32 [address+" + std::to_string(4 * i) + "], held" + std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

/// Cycles and nanoseconds between two ticks of the timer: from tick to tick, because it may tick no more than once a microsecond.
constexpr const char* kClockText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_clock(.param .u64 out, .param .u64 spin)
{
  .reg .pred again;
  .reg .b64 to, wanted, began, now, first, last, passed;
  ld.param.u64 to, [out];
  ld.param.u64 wanted, [spin];
  mov.u64 now, %globaltimer;
EDGE:
  mov.u64 began, %globaltimer;
  setp.eq.u64 again, began, now;
  @again bra EDGE;
  mov.u64 first, %clock64;
SPIN:
  mov.u64 now, %globaltimer;
  sub.u64 passed, now, began;
  setp.lt.u64 again, passed, wanted;
  @again bra SPIN;
  mov.u64 last, %clock64;
  sub.u64 last, last, first;
  cvta.to.global.u64 to, to;
  st.global.u64 [to], last;
  st.global.u64 [to+8], passed;
  ret;
}
)";

constexpr const char* kNothingText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_nothing()
{
  ret;
}
)";

}  // namespace

LaunchResult<TrustedKernels> TrustedKernels::load(GpuDriver& gpu) {
  TrustedKernels ours(gpu);
  const auto shared = static_cast<std::uint32_t>(gpu.facts().shared_bytes_per_block);
  LaunchResult<KernelHandle> scrub = gpu.load(scrub_text(), "assay_scrub", shared);
  if (!scrub) return tl::unexpected(scrub.error());
  ours.scrub_ = *scrub;
  LaunchResult<KernelHandle> clock = gpu.load(kClockText, "assay_clock", 0);
  if (!clock) return tl::unexpected(clock.error());
  ours.clock_ = *clock;
  LaunchResult<KernelHandle> nothing = gpu.load(kNothingText, "assay_nothing", 0);
  if (!nothing) return tl::unexpected(nothing.error());
  ours.nothing_ = *nothing;
  LaunchResult<DevicePtr> reading = gpu.allocate(kReadings * sizeof(std::uint64_t));
  if (!reading) return tl::unexpected(reading.error());
  ours.reading_ = *reading;
  return ours;
}

TrustedKernels::TrustedKernels(TrustedKernels&& other) noexcept
    : gpu_(other.gpu_),
      scrub_(std::exchange(other.scrub_, std::nullopt)),
      clock_(std::exchange(other.clock_, std::nullopt)),
      nothing_(std::exchange(other.nothing_, std::nullopt)),
      reading_(std::exchange(other.reading_, 0)) {}

TrustedKernels::~TrustedKernels() {
  for (const std::optional<KernelHandle>& kernel : {scrub_, clock_, nothing_}) {
    if (kernel) gpu_->unload(*kernel);
  }
  if (reading_ != 0) gpu_->free(reading_);
}

LaunchStatus TrustedKernels::scrub_async() {
  LaunchShape shape;
  // More blocks than multiprocessors, of which each holds one: the first wave reaches all of them.
  shape.grid[0] = kWavesOfBlocks * static_cast<std::uint32_t>(gpu_->facts().sms);
  shape.block[0] = kThreads;
  shape.shared_bytes = static_cast<std::uint32_t>(gpu_->facts().shared_bytes_per_block);
  const std::array<ParamValue, 1> params{{{shape.shared_bytes, sizeof(std::uint32_t)}}};
  return gpu_->launch_async(*scrub_, shape, params);
}

LaunchStatus TrustedKernels::read_clock_async() {
  const std::array<ParamValue, 2> params{{{reading_, sizeof(std::uint64_t)}, {kClockSpinNs, sizeof(std::uint64_t)}}};
  return gpu_->launch_async(*clock_, LaunchShape(), params);
}

LaunchStatus TrustedKernels::nothing_async() { return gpu_->launch_async(*nothing_, LaunchShape(), {}); }

LaunchResult<double> TrustedKernels::clock_mhz() {
  std::array<std::uint64_t, kReadings> reading{};
  if (LaunchStatus s = gpu_->read(std::as_writable_bytes(std::span(reading)), reading_); !s) return tl::unexpected(s.error());
  const auto& [cycles, ns] = reading;
  return ns == 0 ? 0.0 : 1e3 * static_cast<double>(cycles) / static_cast<double>(ns);
}

}  // namespace assay::sandbox
