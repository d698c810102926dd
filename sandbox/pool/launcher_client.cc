#include "sandbox/pool/launcher_client.h"

#include <chrono>
#include <cstdint>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::int64_t kStartMs = 30'000;
constexpr auto kRetryPause = std::chrono::seconds(2);
constexpr auto kWaitSlice = std::chrono::milliseconds(kCancelPollMs);

}  // namespace

Result<std::unique_ptr<LauncherClient>> LauncherClient::start(const SandboxConfig& config, Spawner& spawner, int device, const std::string& driver,
                                                              const Deadline& deadline) {
  Result<SocketPair> sockets = make_socket_pair();
  if (!sockets) return fail(sockets.error());
  const int theirs = sockets->theirs.get();
  auto client = std::make_unique<LauncherClient>();
  client->log_ = config.state_dir + "/launcher-" + std::to_string(device) + ".log";
  Result<Process> process =
      spawner.spawn({.argv = {config.launcher, "--socket-fd", std::to_string(theirs), "--device", std::to_string(device), "--driver", driver},
                     .environment = trusted_environment(),
                     .inherit = {theirs},
                     .log = client->log_});
  if (!process) return fail(process.error());
  client->process_ = std::move(*process);
  client->socket_ = std::move(sockets->ours);
  sockets->theirs.reset();
  Result<Frame> frame = receive_frame(client->socket_.get(), deadline);
  Result<LauncherDevice> facts = frame ? parse_launcher_ready(*frame) : fail(frame.error());
  if (!facts) {
    const std::string tail = tail_of(client->log_);
    return fail(facts.error().code, "the launcher did not become ready: " + facts.error().message + (tail.empty() ? "" : ": " + tail));
  }
  client->device_ = std::move(*facts);
  return client;
}

Result<LaunchOutcome> LauncherClient::launch(const LaunchRequest& request, const std::string& plan, const std::vector<int>& fds, const Deadline& deadline) {
  Status sent = send_frame(socket_.get(), to_header(request), plan, fds, deadline);
  Result<Frame> frame = sent ? receive_frame(socket_.get(), deadline) : fail(sent.error());
  if (!frame) {
    const ErrorCode code = frame.error().code;
    if (code == ErrorCode::resource_exhausted || code == ErrorCode::cancelled) {
      process_.kill();
      return fail(frame.error());
    }
    const std::optional<ExitStatus> status = process_.wait(Deadline::after_ms(1'000));
    const std::string tail = tail_of(log_, 500);
    process_.kill();
    return fail(ErrorCode::unavailable, "the launcher ended: " + (status ? describe(*status) : frame.error().message) + (tail.empty() ? "" : ": " + tail));
  }
  if (frame->type() == "launch_error") {
    Result<LaunchFailure> failure = parse_launch_failure(*frame);
    if (!failure) return fail(failure.error());
    return LaunchOutcome(std::move(*failure));
  }
  Result<Launched> launched = parse_launched(*frame);
  if (!launched) return fail(launched.error());
  return LaunchOutcome(std::move(*launched));
}

LauncherNursery::LauncherNursery(const SandboxConfig& config, Spawner& spawner, int device, std::string driver, std::unique_ptr<LauncherClient> first)
    : config_(config), spawner_(spawner), device_index_(device), driver_(std::move(driver)), parked_(std::move(first)), thread_([this] { run(); }) {
  const std::lock_guard lock(mutex_);
  if (parked_) device_ = parked_->device();
}

LauncherNursery::~LauncherNursery() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    cancel_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::optional<LauncherDevice> LauncherNursery::device() const {
  const std::lock_guard lock(mutex_);
  return device_;
}

Result<std::unique_ptr<LauncherClient>> LauncherNursery::take(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  failure_.reset();
  changed_.notify_all();
  while (true) {
    if (parked_ && !parked_->alive()) parked_.reset();
    if (parked_) {
      std::unique_ptr<LauncherClient> taken = std::move(parked_);
      changed_.notify_all();
      return taken;
    }
    if (failure_) return fail(*failure_);
    if (deadline.cancelled()) return fail(ErrorCode::cancelled, "cancelled");
    if (deadline.expired() || stop_) return fail(ErrorCode::resource_exhausted, "no launcher was ready in time");
    changed_.wait_for(lock, kWaitSlice);
  }
}

void LauncherNursery::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (parked_) {
      changed_.wait(lock, [&] { return stop_ || !parked_; });
      continue;
    }
    if (failure_) {
      changed_.wait_for(lock, kRetryPause, [&] { return stop_ || !failure_; });
      failure_.reset();
      if (stop_) return;
    }
    lock.unlock();
    Result<std::unique_ptr<LauncherClient>> started = LauncherClient::start(config_, spawner_, device_index_, driver_, Deadline::after_ms(kStartMs, &cancel_));
    lock.lock();
    if (started) {
      device_ = (*started)->device();
      parked_ = std::move(*started);
    } else {
      failure_ = started.error();
    }
    changed_.notify_all();
  }
}

}  // namespace assay::sandbox
