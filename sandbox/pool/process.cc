#include "sandbox/pool/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <map>
#include <string_view>

#include "sandbox/jail/gpu_nodes.h"

extern char** environ;

namespace assay::sandbox {
namespace {

constexpr long kPidfdOpen = 434, kPidfdSendSignal = 424;  // the same numbers on every architecture
// The time that a killed process gets to end.
constexpr std::int64_t kReapMs = 5'000;
// The value of P_PIDFD, which older C libraries do not define.
constexpr unsigned kPidfd = 3;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& text : strings) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

constexpr int kExecFailed = 127;

struct ChildPlan {
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const int* inherit = nullptr;
  std::size_t inherit_count = 0;
  int output_fd = -1;  // becomes stdout
  int log_fd = -1;     // becomes stderr
  int input_fd = -1;   // becomes stdin
  pid_t parent = -1;   // if the parent has ended already, the child ends too
  bool own_session = false;
};

/// Runs in the child between fork and exec: sets up the child and executes the program. The parent
/// has other threads, so only async-signal-safe functions may be called here.
[[noreturn]] void become(const ChildPlan& plan) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != plan.parent) ::_exit(kExecFailed);
  if (plan.own_session && ::setsid() < 0) ::_exit(kExecFailed);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(plan.input_fd, STDIN_FILENO);
  ::dup2(plan.output_fd, STDOUT_FILENO);
  ::dup2(plan.log_fd, STDERR_FILENO);
  for (std::size_t i = 0; i < plan.inherit_count; ++i) ::fcntl(plan.inherit[i], F_SETFD, 0);
  ::execve(plan.argv[0], plan.argv, plan.environment);
  const char* message = errno == ENOENT ? "exec: no such program\n" : "exec failed\n";
  std::size_t size = 0;
  while (message[size] != '\0') ++size;
  if (::write(STDERR_FILENO, message, size) < 0) ::_exit(kExecFailed);
  ::_exit(kExecFailed);
}

Result<Process> start(const SpawnRequest& request) {
  UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return fail_errno("open /dev/null");
  UniqueFd log(::open(request.log.empty() ? "/dev/null" : request.log.c_str(),
                      O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return fail_errno("open " + request.log);
  std::vector<std::string> variables;
  for (const auto& [name, value] : request.environment) variables.push_back(name + "=" + value);
  const std::vector<char*> argv = pointers(request.argv), environment = pointers(variables);
  const ChildPlan plan{.argv = argv.data(),
                       .environment = environment.data(),
                       .inherit = request.inherit.data(),
                       .inherit_count = request.inherit.size(),
                       .output_fd = request.output >= 0 ? request.output : log.get(),
                       .log_fd = log.get(),
                       .input_fd = request.input >= 0 ? request.input : null.get(),
                       .parent = ::getpid(),
                       .own_session = request.own_session};
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork for " + request.argv.front());
  if (pid == 0) become(plan);
  UniqueFd pidfd(static_cast<int>(::syscall(kPidfdOpen, pid, 0)));
  if (!pidfd) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return fail_errno("pidfd_open", error);
  }
  return Process(pid, std::move(pidfd), request.own_session);
}

}  // namespace

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    ends_group_ = other.ends_group_;
    status_ = other.status_;
  }
  return *this;
}

void Process::kill() {
  if (pid_ > 0 && !status_) kill_by_pidfd(pidfd_.get());
}

void Process::kill_group() {
  // pid_ still belongs to the process, because Linux does not reuse a process id before the process
  // is reaped.
  if (pid_ > 0 && !status_) ::kill(-pid_, SIGKILL);
  kill();
}

std::optional<ExitStatus> Process::wait(const Deadline& deadline) {
  if (pid_ <= 0 || status_) return status_;
  while (true) {
    siginfo_t info{};
    const auto look = [&](int options) {
      return ::waitid(static_cast<idtype_t>(kPidfd), static_cast<id_t>(pidfd_.get()), &info,
                      WEXITED | WNOHANG | options) == 0 &&
             info.si_pid != 0;
    };
    if (look(WNOWAIT)) {
      // Before the process is reaped, no other process can have its group's number. A process of
      // the group may still have to tidy up: srun leaves one that frees its allocation, and that
      // one blocks SIGTERM.
      if (ends_group_) ::kill(-pid_, SIGTERM);
      look(0);
      status_ = exit_status_of(info);
      return status_;
    }
    if (deadline.over()) return std::nullopt;
    std::array<pollfd, 1> entries{{{pidfd_.get(), POLLIN, 0}}};
    poll_until(entries, deadline);
  }
}

void Process::end() {
  if (pid_ <= 0) return;
  kill();
  wait(Deadline::after_ms(kReapMs));
  pid_ = -1;
}

Spawner::Spawner() : thread_([this] { run(); }) {}

Spawner::~Spawner() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Result<Process> Spawner::spawn(const SpawnRequest& request) {
  if (request.argv.empty()) return fail(ErrorCode::invalid_argument, "no program to start");
  Result<Process> process = fail(ErrorCode::unavailable, "the supervisor is ending");
  bool done = false;
  MutexLock lock(mutex_);
  changed_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return !task_ || stop_; });
  if (stop_) return process;
  task_ = [&] {
    process = start(request);
    done = true;
  };
  changed_.notify_all();
  changed_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return done || stop_; });
  return process;
}

void Spawner::run() {
  MutexLock lock(mutex_);
  while (!stop_) {
    changed_.wait(lock, [&]() ASSAY_REQUIRES(mutex_) { return task_ || stop_; });
    if (stop_) return;
    task_();
    task_ = nullptr;
    changed_.notify_all();
  }
}

void kill_by_pidfd(int pidfd) { ::syscall(kPidfdSendSignal, pidfd, SIGKILL, nullptr, 0); }

std::string tail_of(const std::string& log, std::size_t bytes) {
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<std::size_t>(file.tellg());
  std::string text(std::min(size, bytes), '\0');
  file.seekg(static_cast<std::streamoff>(size - text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Environment trusted_environment(const Environment& extra) {
  constexpr std::array<std::string_view, 5> kSecret = {"KEY", "TOKEN", "SECRET", "PASSWORD",
                                                       "CREDENTIAL"};
  std::map<std::string, std::string> replaced(extra.begin(), extra.end());
  // The name cuda:N must mean the same GPU for torch and for the launcher
  // (sandbox/jail/gpu_nodes.h).
  replaced.insert_or_assign(kDeviceOrder, kByPciAddress);
  Environment out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool secret = std::any_of(kSecret.begin(), kSecret.end(), [&](std::string_view word) {
      return name.find(word) != std::string_view::npos;
    });
    if (secret || name.size() == text.size() || replaced.contains(std::string(name))) continue;
    out.emplace_back(name, text.substr(name.size() + 1));
  }
  out.insert(out.end(), replaced.begin(), replaced.end());
  return out;
}

}  // namespace assay::sandbox
