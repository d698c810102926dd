// Defines assay-park, a program that measures how long it takes to fork, jail and park a candidate.
// measurements/layers.py runs the program. It exists only in a build that can leave isolation
// layers out.
//
//   assay-park PYTHON HARNESS ASSAY_JAIL STATE_DIR [LAYERS,TO,LEAVE,OUT]
//
// The program prints `ready` when the zygote is ready. Then, for each line on stdin, it parks one
// candidate, prints the nanoseconds that this took, and ends the candidate.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "sandbox/jail/layer.h"
#include "sandbox/pool/candidate.h"
#include "sandbox/pool/process.h"
#include "sandbox/pool/zygote.h"

namespace {

using namespace assay;           // NOLINT: this is a main file
using namespace assay::sandbox;  // NOLINT

constexpr int kArguments = 4;
constexpr int kUsage = 2;
constexpr std::int64_t kReadyMs = 60'000;
constexpr std::int64_t kParkMs = 15'000;

int print_error(const std::string& message, int status = 1) {
  std::fprintf(stderr, "assay-park: %s\n", message.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < kArguments + 1 || argc > kArguments + 2)
    return print_error("usage: PYTHON HARNESS ASSAY_JAIL STATE_DIR [LAYERS]", kUsage);
  SandboxConfig config;
  config.python = argv[1];
  config.harness_dir = argv[2];
  config.jail_exec = argv[3];
  config.state_dir = argv[4];
  if (argc == kArguments + 2) {
    if (const Status left_out = leave_out(argv[kArguments + 1]); !left_out)
      return print_error(left_out.error().message, kUsage);
  }
  Spawner spawner;
  Result<std::unique_ptr<Zygote>> started =
      Zygote::start(config, spawner, Deadline::after_ms(kReadyMs));
  if (!started) return print_error(started.error().message);
  const std::shared_ptr<Zygote> zygote = std::move(*started);
  std::puts("ready");
  std::fflush(stdout);
  std::array<char, 16> line{};
  while (std::fgets(line.data(), line.size(), stdin) != nullptr) {
    const auto begin = std::chrono::steady_clock::now();
    const Result<std::unique_ptr<Candidate>> parked =
        Candidate::park(zygote, 0, config.job_limits, config, Deadline::after_ms(kParkMs));
    const auto took = std::chrono::steady_clock::now() - begin;
    if (!parked) return print_error(parked.error().message);
    std::printf("%lld\n", static_cast<long long>(
                              std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()));
    std::fflush(stdout);
  }
  return 0;
}
