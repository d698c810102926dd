// Starts the launcher and opens the driver that the GPU tests examine. That is the CUDA driver. In
// the program test_launcher_hip_over_cuda, it is the HIP driver over a stand-in library
// (tests/hip_over_cuda), on the same GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sandbox/launcher/driver/open_driver.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/launcher_process.h"

namespace assay::sandbox::test {

#ifdef ASSAY_HIP_OVER_CUDA
inline constexpr bool kOverHip = true;
#else
inline constexpr bool kOverHip = false;
#endif

/// Returns the path of the launcher that has the driver.
inline std::string gpu_launcher_path(bool hip) {
  return launcher_path() + (hip ? "-hip-over-cuda" : "");
}

struct GpuLauncher : LauncherProcess {
  explicit GpuLauncher(std::int64_t answer_ms = 20'000, bool hip = kOverHip)
      : LauncherProcess(hip ? "hip" : "cuda", answer_ms, {}, gpu_launcher_path(hip)) {}
};

inline std::unique_ptr<GpuDriver> open_gpu_driver() {
  auto gpu = kOverHip ? open_hip_driver(0) : open_cuda_driver(0);
  REQUIRE(gpu);
  return std::move(*gpu);
}

}  // namespace assay::sandbox::test
