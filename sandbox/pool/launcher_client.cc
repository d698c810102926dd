#include "sandbox/pool/launcher_client.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "sandbox/jail/layer.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t kReportBytes = 4 << 20;  // the maximum size of a profiler's report
// The numbers of log bytes that error messages quote: the first for a launcher that does not start,
// the second for a launcher that ends unexpectedly.
constexpr std::size_t kStartLogBytes = 2'000, kEndLogBytes = 500;
constexpr unsigned kLauncherLogs = 8;    // the minimum number of log files
constexpr std::int64_t kSendMs = 1'000;  // for a message that needs no answer
// The maximum time between the end of the stream and the end of the process. A driver may need
// seconds to end a context.
constexpr std::int64_t kEndMs = 10'000;

/// Assigns a log file, identified by a number, to each launcher. No two running launchers have the
/// same file. Among the files of ended launchers, the oldest file is overwritten first.
class LogNumbers {
 public:
  unsigned take() {
    const MutexLock lock(mutex_);
    const unsigned count = std::max(kLauncherLogs, static_cast<unsigned>(taken_.size()) + 1);
    do next_ = (next_ + 1) % count;
    while (taken_.count(next_) > 0);
    taken_.insert(next_);
    return next_;
  }
  void give_back(unsigned number) {
    const MutexLock lock(mutex_);
    taken_.erase(number);
  }

 private:
  Mutex mutex_;
  std::set<unsigned> taken_ ASSAY_GUARDED_BY(mutex_);
  unsigned next_ ASSAY_GUARDED_BY(mutex_) = 0;
};

LogNumbers& log_numbers() {
  // This object is never destroyed, because a launcher may live until after the end of main.
  static LogNumbers& numbers = *new LogNumbers;
  return numbers;
}

constexpr std::string_view kBetweenLines = " | ";
constexpr std::string_view kCutMark = "...";

bool is_error(std::string_view line) {
  return line.starts_with("==ERROR==") || line.starts_with("assay-launcher:");
}
bool is_report(std::string_view line) { return line.starts_with('"'); }

void append_lines(std::string_view log, bool errors, std::string& out) {
  while (!log.empty() && out.size() <= kNcuMessagesBytes) {
    const auto end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || is_report(line) || is_error(line) != errors) continue;
    if (!out.empty()) out += kBetweenLines;
    out += line;
  }
}

Status check_case(const std::string& replied, const std::string& requested) {
  if (replied == requested) return {};
  return fail(ErrorCode::corrupt, "the launcher replied about case '" + replied +
                                      "' to a request for case '" + requested + "'");
}

/// Parses the last reply of a launch.
Result<LaunchOutcome> parse_outcome(const Frame& frame, const std::string& case_id) {
  const auto checked = [&](auto reply) -> Result<LaunchOutcome> {
    if (!reply) return fail(reply.error());
    if (Status same = check_case(reply->case_id, case_id); !same) return fail(same.error());
    return LaunchOutcome(std::move(*reply));
  };
  if (frame.type() == "launch_error") return checked(parse_launch_failure(frame));
  return checked(parse_launched(frame));
}

}  // namespace

LauncherClient::LauncherClient() : log_number_(log_numbers().take()) {}

LauncherClient::~LauncherClient() {
  kill();
  log_numbers().give_back(log_number_);
}

std::string LauncherClient::end_of_log(std::size_t bytes) const {
  const std::string text =
      profiled_ ? ncu_messages(tail_of(log_, kReportBytes)) : tail_of(log_, bytes);
  return text.empty() ? text : ": " + text;
}

std::string LauncherClient::how_it_ended(const Error& error) {
  if (error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::cancelled)
    return error.message;
  exit_status_ = process_.wait(Deadline::after_ms(kEndMs));
  return exit_status_ ? describe(*exit_status_) : error.message;
}

Result<std::unique_ptr<LauncherClient>> LauncherClient::start(const SandboxConfig& config,
                                                              Spawner& spawner,
                                                              const LauncherOptions& options,
                                                              const Deadline& deadline) {
  const std::string device = std::to_string(options.device);
  Result<SocketPair> sockets = make_socket_pair();
  if (!sockets) return fail(sockets.error());
  const int theirs = sockets->theirs.get();
  auto client = std::make_unique<LauncherClient>();
  client->profiled_ = !options.ncu.empty() || options.rocprof || options.sanitizer;
  client->log_ =
      config.state_dir + "/launcher-" + device + "." + std::to_string(client->log_number_) + ".log";
  std::vector<std::string> argv = {
      config.launcher,
      "--socket-fd",
      std::to_string(theirs),
      "--device",
      device,
      "--driver",
      options.driver,
      "--isolation",
      config.isolation == Isolation::strict ? "strict" : "best_effort"};
  if (!options.ncu.empty()) argv.insert(argv.end(), {"--counters", options.ncu});
  if (options.rocprof)
    argv.insert(argv.end(), {"--rocprof", options.rocprof->path, "--pass",
                             std::to_string(options.rocprof->pass)});
  if (options.sanitizer)
    argv.insert(argv.end(), {"--sanitizer", options.sanitizer->path, "--tool",
                             std::string(to_string(options.sanitizer->tool))});
  if (!left_out_layers().empty()) argv.insert(argv.end(), {"--without", left_out_layers()});
  Result<Process> process = spawner.spawn({.argv = std::move(argv),
                                           .environment = trusted_environment(),
                                           .inherit = {theirs},
                                           .log = client->log_});
  if (!process) return fail(process.error());
  client->process_ = std::move(*process);
  client->socket_ = std::move(sockets->ours);
  sockets->theirs.reset();
  Result<Frame> frame = receive_frame(client->socket_.get(), deadline);
  Result<LauncherReady> ready = frame ? parse_launcher_ready(*frame) : fail(frame.error());
  if (!ready) {
    const std::string how = client->how_it_ended(ready.error());
    return fail(ready.error().code,
                "the launcher did not become ready: " + how + client->end_of_log(kStartLogBytes));
  }
  client->ready_ = std::move(*ready);
  return client;
}

void LauncherClient::release_memory() {
  if (!std::exchange(holds_memory_, false)) return;
  if (!send_frame(socket_.get(), to_header(ReleaseRequest{}), {}, {}, Deadline::after_ms(kSendMs)))
    kill();
}

Status LauncherClient::check(const Deadline& deadline) {
  Status sent = send_frame(socket_.get(), to_header(CheckRequest{}), {}, {}, deadline);
  Result<Frame> frame = sent ? receive_frame(socket_.get(), deadline) : fail(sent.error());
  Status checked = frame ? parse_checked(*frame) : fail(frame.error());
  if (checked) return {};
  if (checked.error().code == ErrorCode::corrupt) kill();  // it answered, so it has not ended
  const std::string how = how_it_ended(checked.error());
  kill();
  return fail(checked.error().code,
              "the launcher did not check its device: " + how + end_of_log(kEndLogBytes));
}

Result<std::string> LauncherClient::finish(const Deadline& deadline) {
  socket_.reset();
  if (!process_.wait(deadline)) {
    kill();
    return fail(deadline.cancelled() ? ErrorCode::cancelled : ErrorCode::resource_exhausted,
                "the launcher did not end in time");
  }
  return tail_of(log_, kReportBytes);
}

Result<Sanitized> LauncherClient::finish_sanitized(const Deadline& deadline) {
  // The launcher inside the sanitizer reads the end of the stream and exits. The launcher around
  // the sanitizer can still send the report.
  if (::shutdown(socket_.get(), SHUT_WR) != 0)
    return fail_errno("shutdown of the launcher's socket");
  Result<Frame> frame = receive_frame(socket_.get(), deadline);
  Result<Sanitized> sanitized = frame ? parse_sanitized(*frame) : fail(frame.error());
  if (sanitized) return sanitized;
  const std::string how = how_it_ended(sanitized.error());
  kill();
  return fail(sanitized.error().code,
              "the sanitizer gave no report: " + how + end_of_log(kEndLogBytes));
}

std::string LauncherClient::printed(std::size_t bytes) const { return tail_of(log_, bytes); }

Result<LaunchOutcome> LauncherClient::launch(const LaunchRequest& request, const std::string& plan,
                                             const std::vector<int>& fds, const Deadline& deadline,
                                             const std::function<Status()>& stage_next_inputs) {
  ++launches_;
  Status sent = send_frame(socket_.get(), to_header(request), plan, fds, deadline);
  Result<Frame> frame = sent ? receive_frame(socket_.get(), deadline) : fail(sent.error());
  if (frame && frame->type() == "primed" && stage_next_inputs) {
    const Result<Primed> primed = parse_primed(*frame);
    if (!primed) return fail(primed.error());
    if (Status same = check_case(primed->case_id, request.case_id); !same)
      return fail(same.error());
    const std::int64_t left_ms = deadline.remaining_ms();
    if (Status renewed = stage_next_inputs(); !renewed) {
      kill();
      return fail(renewed.error());
    }
    const Deadline rest = Deadline::after_ms(left_ms, deadline.stop());
    sent = send_frame(socket_.get(), to_header(SampleRequest{}), {}, {}, rest);
    frame = sent ? receive_frame(socket_.get(), rest) : fail(sent.error());
  }
  if (!frame) {
    const ErrorCode code = frame.error().code;
    if (code == ErrorCode::resource_exhausted || code == ErrorCode::cancelled) {
      kill();
      return fail(frame.error());
    }
    const std::string how = how_it_ended(frame.error());
    kill();
    return fail(ErrorCode::unavailable, "the launcher ended: " + how + end_of_log(kEndLogBytes));
  }
  Result<LaunchOutcome> outcome = parse_outcome(*frame, request.case_id);
  if (outcome) {
    const auto* launched = std::get_if<Launched>(&*outcome);
    holds_memory_ = launched != nullptr && launched->holds_memory;
  }
  return outcome;
}

std::string ncu_messages(std::string_view log) {
  std::string messages;
  append_lines(log, true, messages);
  append_lines(log, false, messages);
  if (messages.size() > kNcuMessagesBytes)
    messages = messages.substr(0, kNcuMessagesBytes - kCutMark.size()).append(kCutMark);
  return messages;
}

}  // namespace assay::sandbox
