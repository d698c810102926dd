#include "sandbox/pool/zygote.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/layer.h"

namespace assay::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCancelledForkMs = 1'000;
// The number of log files with the setting `config.spawn`. The ninth zygote overwrites the log of
// the first. Without this setting, each zygote of a pool overwrites the log of the previous one.
constexpr unsigned kZygoteLogs = 8;
constexpr int kSlotUsers = kMaxSlots;

/// Makes a toolkit folder visible in the jail, and passes the folder's path to the harness, which
/// loads NVRTC.
void show_toolkit(const std::string& setting, const std::string& folder,
                  std::vector<std::string>& argv) {
  if (folder.empty()) return;
  std::error_code error;
  const std::string path = fs::absolute(folder, error).lexically_normal().string();
  argv.insert(argv.end(), {"--env", setting + "=" + path});
  if (fs::is_directory(path, error)) argv.insert(argv.end(), {"--bind", path});
}

SpawnRequest spawn_request(const SandboxConfig& config, int socket, const std::string& log) {
  const std::string native = native_folder(config);
  const bool has_native = fs::exists(native);
  std::vector<std::string> argv = {config.jail_exec,
                                   "--isolation",
                                   config.isolation == Isolation::strict ? "strict" : "best_effort",
                                   "--slots",
                                   std::to_string(kSlotUsers),
                                   "--keep-fd",
                                   std::to_string(socket),
                                   "--python",
                                   config.python,
                                   "--bind",
                                   config.harness_dir};
  if (has_native) {
    for (const std::string& argument :
         {std::string("--bind"), native, std::string("--env"), "ASSAY_NATIVE_DIR=" + native})
      argv.push_back(argument);
  }
  if (!config.judged_suite.empty()) argv.insert(argv.end(), {"--bind", config.judged_suite});
  if (config.gpu) {
    for (const std::string& device : config.gpu->devices)
      argv.insert(argv.end(), {"--device", device});
    argv.insert(argv.end(), {"--env", kVisibleDevices + ("=" + std::to_string(config.gpu->ordinal)),
                             "--env", kDeviceOrder + std::string("=") + kByPciAddress});
  }
  show_toolkit("ASSAY_CUDA_TOOLKIT", config.cuda_toolkit, argv);
  show_toolkit("CUDA_HOME", config.cuda_home, argv);
  if (!left_out_layers().empty()) argv.insert(argv.end(), {"--without", left_out_layers()});
  for (const std::string& argument :
       {std::string("--"), config.python, std::string("-I"), std::string("-B"), std::string("-u"),
        config.harness_dir + "/main.py", std::string("zygote"), std::string("--control-fd"),
        std::to_string(socket)}) {
    argv.push_back(argument);
  }
  return {.argv = std::move(argv), .environment = {}, .inherit = {socket}, .log = log};
}

tl::unexpected<Error> not_ready(const Error& error, const std::string& log) {
  const std::string tail = tail_of(log);
  return fail(error.code, "the zygote did not become ready: " + error.message +
                              (tail.empty() ? "" : "\nthe end of its log (" + log + "):\n" + tail));
}

}  // namespace

std::string native_folder(const SandboxConfig& config) {
  return (fs::path(config.jail_exec).parent_path().parent_path() / "harness")
      .lexically_normal()
      .string();
}

Result<std::unique_ptr<Zygote>> Zygote::start(const SandboxConfig& config, Spawner& spawner,
                                              const Deadline& deadline) {
  Result<SocketPair> sockets = make_socket_pair();
  if (!sockets) return fail(sockets.error());
  std::unique_ptr<Zygote> zygote(new Zygote);
  static std::atomic<unsigned> started{0};
  const unsigned which = config.spawn ? started++ % kZygoteLogs : 0;
  if (config.gpu) zygote->devices_ = config.gpu->devices;
  zygote->log_ = config.state_dir + (config.judged_suite.empty() ? "/zygote" : "/judge-zygote") +
                 (config.gpu ? "-gpu" + std::to_string(config.gpu->index) : "") +
                 (which == 0 ? "" : "-" + std::to_string(which)) + ".log";
  zygote->socket_ = std::move(sockets->ours);
  Result<Process> process =
      spawner.spawn(spawn_request(config, sockets->theirs.get(), zygote->log_));
  if (!process) return fail(process.error());
  zygote->process_ = std::move(*process);
  sockets->theirs.reset();
  Result<Frame> frame = receive_frame(zygote->socket_.get(), deadline);
  if (!frame) return not_ready(frame.error(), zygote->log_);
  Result<ZygoteMessage> message = parse_zygote(*frame);
  if (!message) return not_ready(message.error(), zygote->log_);
  if (!std::holds_alternative<ZygoteReady>(*message))
    return not_ready({ErrorCode::corrupt, "its first message was not `ready`"}, zygote->log_);
  zygote->ready_ = std::get<ZygoteReady>(std::move(*message));
  try {
    zygote->reader_ = std::thread([raw = zygote.get()] { raw->read(); });
  } catch (const std::system_error& error) {  // the machine cannot start another thread
    return fail(ErrorCode::unavailable, std::string("start a thread: ") + error.what());
  }
  return zygote;
}

Zygote::~Zygote() {
  ::shutdown(socket_.get(), SHUT_RDWR);
  if (reader_.joinable()) reader_.join();
  process_.kill();
}

void Zygote::set_ended() {
  ended_.request_stop();
  changed_.notify_all();
}

Result<UniqueFd> Zygote::fork(const ForkRequest& request, int job_socket, int out, int err,
                              const Deadline& deadline) {
  {
    const MutexLock lock(mutex_);
    exited_.erase(request.slot);
  }
  {
    const Result<FifoSemaphore::Slot> turn = sending_.acquire(deadline);
    if (!turn) return fail(turn.error());
    if (Status sent =
            send_frame(socket_.get(), to_header(request), {}, {job_socket, out, err}, deadline);
        !sent)
      return fail(sent.error());
  }
  MutexLock lock(mutex_);
  const auto answered = [&]() ASSAY_REQUIRES(mutex_) {
    return !alive() || forked_.contains(request.slot);
  };
  // A cancelled caller still waits for the answer, which comes within milliseconds. If it did not
  // wait, this function would have to end the zygote, because a late answer would belong to no
  // request. But other callers need the zygote.
  if (!deadline.wait(changed_, lock, answered) && deadline.cancelled()) {
    const std::int64_t left_ms = std::min(deadline.remaining_ms(), kCancelledForkMs);
    changed_.wait_for(lock, std::chrono::milliseconds(left_ms), answered);
  }
  if (const auto forked = forked_.find(request.slot); forked != forked_.end()) {
    UniqueFd pidfd = std::move(forked->second);
    forked_.erase(forked);
    return pidfd;
  }
  if (!alive()) return fail(ErrorCode::unavailable, "the zygote ended: " + tail_of(log_));
  // The answer may still come later, and would then be mistaken for the answer to the next request
  // for this slot. So this zygote gets no further requests.
  set_ended();
  return fail(ErrorCode::resource_exhausted, "the zygote did not fork in time");
}

std::optional<ExitStatus> Zygote::wait_exit(int slot, const Deadline& deadline) {
  MutexLock lock(mutex_);
  deadline.wait(changed_, lock,
                [&]() ASSAY_REQUIRES(mutex_) { return !alive() || exited_.contains(slot); });
  const auto exited = exited_.find(slot);
  if (exited == exited_.end()) return std::nullopt;
  return exited->second;
}

void Zygote::read() {
  while (true) {
    Result<Frame> frame = receive_frame(socket_.get(), Deadline::never());
    Result<ZygoteMessage> message = frame ? parse_zygote(*frame) : fail(frame.error());
    const MutexLock lock(mutex_);
    if (!message || std::holds_alternative<ZygoteReady>(*message)) break;
    if (const auto* forked = std::get_if<Forked>(&*message)) {
      if (frame->fds.size() != 1) break;
      forked_[forked->slot] = std::move(frame->fds.front());
    } else {
      const Exited& exited = std::get<Exited>(*message);
      exited_[exited.slot] = exited.status;
    }
    changed_.notify_all();
  }
  const MutexLock lock(mutex_);
  set_ended();
}

}  // namespace assay::sandbox
