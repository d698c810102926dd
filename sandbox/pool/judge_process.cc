#include "sandbox/pool/judge_process.h"

#include <cstdint>
#include <utility>

namespace assay::sandbox {
namespace {

// The time in which a process that has closed its socket ends.
constexpr std::int64_t kEndOfJudgeMs = 500;

std::string judge_log(const SandboxConfig& config, std::string device, int number) {
  for (char& c : device) {
    if (c == ':') c = '-';
  }
  return config.state_dir + "/judge-" + device + (number == 0 ? "" : "." + std::to_string(number)) +
         ".log";
}

}  // namespace

TrustedJudgeProcess::TrustedJudgeProcess(const SandboxConfig& config, Spawner& spawner,
                                         const std::string& device, int number)
    : config_(config),
      spawner_(spawner),
      gpu_(visible_gpus(device)),
      device_(gpu_ ? gpu_->device : device),
      log_(judge_log(config, device, number)) {}

Result<JudgeReady> TrustedJudgeProcess::start(const Deadline& deadline) {
  stop();
  Result<SocketPair> sockets = make_socket_pair();
  if (!sockets) return fail(sockets.error());
  const int theirs = sockets->theirs.get();
  Result<Process> process =
      spawner_.spawn({.argv = {config_.python, "-I", "-B", "-u", config_.harness_dir + "/main.py",
                               "judge", "--socket-fd", std::to_string(theirs), "--device", device_},
                      .environment = trusted_environment(gpu_ ? gpu_->environment : Environment{}),
                      .inherit = {theirs},
                      .log = log_});
  if (!process) return fail(process.error());
  process_ = std::move(*process);
  socket_ = std::move(sockets->ours);
  sockets->theirs.reset();
  Result<Frame> frame = receive_frame(socket_.get(), deadline);
  Result<JudgeReady> facts = frame ? parse_judge_ready(*frame) : fail(frame.error());
  if (facts) return facts;
  stop();
  const std::string tail = tail_of(log_);
  return fail(facts.error().code,
              "the judge did not become ready: " + facts.error().message +
                  (tail.empty() ? "" : "\nthe end of its log (" + log_ + "):\n" + tail));
}

std::optional<std::string> TrustedJudgeProcess::how_it_ended() {
  const std::optional<ExitStatus> status = process_.wait(Deadline::after_ms(kEndOfJudgeMs));
  return status ? std::optional(assay::describe(*status)) : std::nullopt;
}

void TrustedJudgeProcess::stop() {
  socket_.reset();
  process_ = Process();
}

}  // namespace assay::sandbox
