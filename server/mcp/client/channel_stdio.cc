// Implements the channel over the pipes of a child process.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/exit_status.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "server/mcp/client/channel.h"
#include "server/mcp/protocol/jsonrpc.h"
#include "server/mcp/stdio/lines.h"

extern char** environ;

namespace assay::mcp {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxAnswerBytes = 16LL << 20;
/// The time that the server has to exit after its stdin is closed. If it does not exit, it receives
/// SIGTERM and has the same time again.
constexpr std::chrono::milliseconds kExitTimeout{6'000};
/// The time in which a server that has closed its pipes must exit, so that an error names its exit
/// status.
constexpr std::chrono::milliseconds kStatusTimeout{2'000};

class StdioChannel final : public Channel {
 public:
  StdioChannel(pid_t child, UniqueFd pidfd, UniqueFd to_child, UniqueFd from_child,
               const Clock& clock)
      : clock_(clock),
        child_(child),
        pidfd_(std::move(pidfd)),
        to_child_(std::move(to_child)),
        from_child_(std::move(from_child)),
        reader_([this] { read_answers(); }) {}

  ~StdioChannel() override {
    to_child_.reset();  // the server exits at the end of its input
    if (!exits(kExitTimeout)) {
      ::kill(child_, SIGTERM);
      if (!exits(kExitTimeout)) ::kill(child_, SIGKILL);
    }
    ::waitpid(child_, nullptr, 0);
    reader_.join();
  }

  Result<json> request(const json& message, const std::string& version, const Wait& wait) override {
    const std::string key = message["id"].dump();
    const bool ended = [&] {
      const MutexLock lock(mutex_);
      if (!ended_) waiting_[key] = {};
      return ended_;
    }();
    if (ended) return fail(ErrorCode::unavailable, "the server takes no requests; " + its_end());
    if (auto status = send(message); !status) {
      const MutexLock lock(mutex_);
      waiting_.erase(key);
      return fail(ErrorCode::unavailable,
                  "the server takes no input: " + status.error().message + "; " + its_end());
    }
    Result<json> body = wait_for(key, wait);
    {
      const MutexLock lock(mutex_);
      waiting_.erase(key);
    }
    if (body) return body;
    if (body.error().code == ErrorCode::io)
      return fail(ErrorCode::unavailable, body.error().message);
    // An error of notify() is ignored. The caller needs the reason why the wait ended, and if the
    // pipe is broken, the next request returns an error.
    static_cast<void>(
        notify(make_notification("notifications/cancelled",
                                 {{"requestId", message["id"]}, {"reason", body.error().message}}),
               version));
    return fail(body.error().code,
                body.error().message + ": " + message["method"].get<std::string>());
  }

  Status notify(const json& message, const std::string&) override { return send(message); }

 private:
  Status send(const json& message) {
    const std::string line = dump(message);
    const MutexLock lock(send_mutex_);
    return write_line(to_child_.get(), line);
  }

  /// Returns the response to the request with the id `key`. Errors: io if the server's output has
  /// ended; cancelled if a stop was requested; unavailable if the response did not come in time.
  Result<json> wait_for(const std::string& key, const Wait& wait) {
    const std::int64_t until_ns = clock_.monotonic_ns() + wait.timeout_ms * kNsPerMs;
    MutexLock lock(mutex_);
    while (true) {
      Waiting& mine = waiting_[key];
      const bool arrived =
          clock_.wait_until(arrived_, lock, wait.stop, until_ns, [&]() ASSAY_REQUIRES(mutex_) {
            return ended_ || !mine.body.is_null() || !mine.notifications.empty();
          });
      const std::vector<json> notifications = std::exchange(mine.notifications, {});
      const json body = mine.body;
      const bool ended = ended_;
      lock.unlock();
      for (const json& notification : notifications) {
        if (wait.notified) wait.notified(notification);
      }
      if (!body.is_null()) return body;
      if (ended) return fail(ErrorCode::io, "the server did not answer; " + its_end());
      if (wait.stop.stop_requested()) return fail(ErrorCode::cancelled, "the call was cancelled");
      if (!arrived || clock_.monotonic_ns() >= until_ns)
        return fail(ErrorCode::unavailable,
                    "the server did not answer within " + std::to_string(wait.timeout_ms) + " ms");
      lock.lock();
    }
  }

  void read_answers() {
    LineReader lines(from_child_.get(), kMaxAnswerBytes);
    while (auto line = lines.next()) {
      auto message = parse_message(line->text, {.max_bytes = kMaxAnswerBytes});
      if (!message || message->kind == Message::Kind::request)
        continue;  // the client declares no capability that a server may ask for
      const bool response = message->kind == Message::Kind::response;
      const json key = response ? message->id : message->params.value(kMetaProgressToken, json());
      const MutexLock lock(mutex_);
      const auto found = waiting_.find(key.dump());
      if (found == waiting_.end()) continue;  // its wait has ended, or it belongs to no request
      if (response)
        found->second.body = std::move(message->body);
      else
        found->second.notifications.push_back(
            make_notification(message->method, std::move(message->params)));
      arrived_.notify_all();
    }
    const MutexLock lock(mutex_);
    ended_ = true;
    arrived_.notify_all();
  }

  /// Says how the server, whose pipes are closed, has ended. Its last messages are on the standard
  /// error, which it shares with this process.
  std::string its_end() const {
    const std::optional<ExitStatus> status = ended_with();
    return status ? "its process ended (" + describe(*status) + ")"
                  : "its process has closed its output but still runs";
  }

  /// Returns how the child process ended, or nothing if it still runs after kStatusTimeout. Does
  /// not reap the process, so several threads can ask.
  std::optional<ExitStatus> ended_with() const {
    siginfo_t info{};
    if (!exits(kStatusTimeout) ||
        ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd_.get()), &info,
                 WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
      return std::nullopt;
    return exit_status_of(info);
  }

  /// Waits until the child process has ended. Returns false after `timeout`.
  bool exits(std::chrono::nanoseconds timeout) const {
    const std::int64_t until_ns = clock_.monotonic_ns() + timeout.count();
    pollfd entry{pidfd_.get(), POLLIN, 0};
    while (true) {
      const std::int64_t left_ms = (until_ns - clock_.monotonic_ns()) / kNsPerMs;
      if (left_ms <= 0) return false;
      const int ready = ::poll(&entry, 1, static_cast<int>(left_ms));
      if (ready > 0) return true;
      if (ready == 0 || errno != EINTR) return false;
    }
  }

  const Clock& clock_;
  const pid_t child_;
  const UniqueFd pidfd_;
  UniqueFd to_child_;
  const UniqueFd from_child_;
  Mutex send_mutex_;
  Mutex mutex_;
  Condition arrived_;
  struct Waiting {
    json body;  // null until the response has arrived
    std::vector<json> notifications;
  };
  // The requests that wait for a response, by request id.
  std::map<std::string, Waiting> waiting_ ASSAY_GUARDED_BY(mutex_);
  bool ended_ ASSAY_GUARDED_BY(mutex_) = false;
  std::thread reader_;  // the last member: it uses all members above
};

/// Ignores SIGPIPE, so that a write to a server that has died returns an Error.
void ignore_broken_pipes() {
  struct sigaction current {};
  if (::sigaction(SIGPIPE, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  current.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &current, nullptr);
}

Result<pid_t> spawn(const std::vector<std::string>& command, int in, int out) {
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, command[0].c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return fail(ErrorCode::unavailable,
                "cannot start '" + command[0] + "': " + std::strerror(error));
  return child;
}

}  // namespace

Result<std::unique_ptr<Channel>> open_stdio_channel(const std::vector<std::string>& command,
                                                    const Clock& clock) {
  if (command.empty()) return fail(ErrorCode::invalid_argument, "the server's command is empty");
  ignore_broken_pipes();
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return fail_errno("pipe2");
  UniqueFd child_in(down[0]), to_child(down[1]);
  if (::pipe2(up, O_CLOEXEC) != 0) return fail_errno("pipe2");
  UniqueFd from_child(up[0]), child_out(up[1]);
  auto child = spawn(command, child_in.get(), child_out.get());
  if (!child) return fail(child.error());
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, *child, 0)));
  if (!pidfd) {
    const Error error = fail_errno("pidfd_open").value();
    ::kill(*child, SIGKILL);
    ::waitpid(*child, nullptr, 0);
    return fail(error);
  }
  return std::make_unique<StdioChannel>(*child, std::move(pidfd), std::move(to_child),
                                        std::move(from_child), clock);
}

}  // namespace assay::mcp
