#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <utility>
#include <vector>

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
constexpr std::chrono::seconds kExitPatience{6};  // after its stdin closed, then after SIGTERM
constexpr std::chrono::milliseconds kExitPoll{10};
constexpr std::chrono::milliseconds kAnswerCheckInterval{
    50};  // how often a caller is asked whether it gives up

class StdioChannel final : public Channel {
 public:
  StdioChannel(pid_t child, UniqueFd to_child, UniqueFd from_child)
      : child_(child),
        to_child_(std::move(to_child)),
        from_child_(std::move(from_child)),
        reader_([this] { read_answers(); }) {}

  ~StdioChannel() override {
    to_child_.reset();  // end of input: the server's signal to exit
    if (!wait_for_exit()) {
      ::kill(child_, SIGTERM);
      if (!wait_for_exit()) {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
      }
    }
    reader_.join();
  }

  Result<json> request(const json& message, const std::string& version, const Wait& wait) override {
    const std::string key = message["id"].dump();
    {
      const MutexLock lock(mutex_);
      if (ended_) return fail(ErrorCode::unavailable, "the server process has ended");
      waiting_[key] = {};
    }
    if (auto status = send(message); !status) {
      const MutexLock lock(mutex_);
      waiting_.erase(key);
      return fail(ErrorCode::unavailable,
                  "the server process does not take input: " + status.error().message);
    }
    Result<json> body = wait_for(key, wait);
    {
      const MutexLock lock(mutex_);
      waiting_.erase(key);
    }
    if (body) return body;
    if (body.error().code == ErrorCode::io)
      return fail(ErrorCode::unavailable, body.error().message);
    // A broken pipe shows at the next request; why it was given up is what the caller needs to
    // hear.
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

  /// The response; `io` when there will be none, `cancelled` or `unavailable` when it was given up.
  Result<json> wait_for(const std::string& key, const Wait& wait) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(wait.timeout_ms);
    MutexLock lock(mutex_);
    while (true) {
      Waiting& mine = waiting_[key];
      const auto look =
          wait.cancelled
              ? std::min(deadline, std::chrono::steady_clock::now() + kAnswerCheckInterval)
              : deadline;
      arrived_.wait_until(lock, look, [&]() ASSAY_REQUIRES(mutex_) {
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
      if (ended) return fail(ErrorCode::io, "the server process ended before it answered");
      if (wait.cancelled && wait.cancelled())
        return fail(ErrorCode::cancelled, "the call was cancelled");
      if (std::chrono::steady_clock::now() >= deadline)
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
        continue;  // we declare nothing that a server may ask for
      const bool response = message->kind == Message::Kind::response;
      const json key = response ? message->id : message->params.value(kMetaProgressToken, json());
      const MutexLock lock(mutex_);
      const auto found = waiting_.find(key.dump());
      if (found == waiting_.end()) continue;  // given up on, or of no request
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

  bool wait_for_exit() const {
    for (auto waited = std::chrono::milliseconds{0}; waited < kExitPatience; waited += kExitPoll) {
      if (::waitpid(child_, nullptr, WNOHANG) != 0) return true;
      std::this_thread::sleep_for(kExitPoll);
    }
    return false;
  }

  const pid_t child_;
  UniqueFd to_child_;
  const UniqueFd from_child_;
  Mutex send_mutex_;
  Mutex mutex_;
  Condition arrived_;
  struct Waiting {
    json body;  // null until the response is there
    std::vector<json> notifications;
  };
  std::map<std::string, Waiting> waiting_ ASSAY_GUARDED_BY(mutex_);  // by id
  bool ended_ ASSAY_GUARDED_BY(mutex_) = false;
  std::thread reader_;  // last: it uses everything above
};

/// A server that died must be an Error of the next write, not the end of this process.
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

Result<std::unique_ptr<Channel>> open_stdio_channel(const std::vector<std::string>& command) {
  if (command.empty()) return fail(ErrorCode::invalid_argument, "the server's command is empty");
  ignore_broken_pipes();
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return fail_errno("pipe2");
  UniqueFd child_in(down[0]), to_child(down[1]);
  if (::pipe2(up, O_CLOEXEC) != 0) return fail_errno("pipe2");
  UniqueFd from_child(up[0]), child_out(up[1]);
  auto child = spawn(command, child_in.get(), child_out.get());
  if (!child) return fail(child.error());
  return std::make_unique<StdioChannel>(*child, std::move(to_child), std::move(from_child));
}

}  // namespace assay::mcp
