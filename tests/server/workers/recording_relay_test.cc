// Tests how a server passes the orders of an execution on, with workers that this test plays.
#include "server/workers/recording_relay.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "server/workers/recording_messages.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

constexpr std::int64_t kAnswerMs = 60'000;

/// A folder that is removed at the end.
struct Folder {
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "assay-relay-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

/// A worker whose messages this test reads and writes. The command of its pool only passes them on.
struct PlayedWorker {
  PlayedWorker(const Folder& folder, const std::string& role)
      : to(folder.path / (role + "-to")), from(folder.path / (role + "-from")) {
    ::signal(SIGPIPE, SIG_IGN);  // a write to a command that has ended must fail
    for (const std::filesystem::path& pipe : {to, from})
      REQUIRE(::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR) == 0);
    settings.name = role;
    settings.role = role;
    settings.command = "sh -c 'cat " + from.string() + " & exec cat >" + to.string() + "'";
    settings.health_check_s = 0;
    revision.role = role;
  }

  PlayedWorker(const PlayedWorker&) = delete;
  PlayedWorker& operator=(const PlayedWorker&) = delete;
  /// The fleet is gone by now, so no process of a command may be left, not even one that waits for
  /// the other side of its pipe.
  ~PlayedWorker() {
    const auto deadline = sandbox::Deadline::after_ms(kAnswerMs);
    while (has_reader() && !deadline.over()) system_clock().pause(std::chrono::milliseconds(10));
    CHECK_FALSE(has_reader());
  }
  /// Returns true if a process reads `from`, or has begun to open it for that.
  bool has_reader() const {
    return UniqueFd(::open(from.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)).get() >= 0;
  }

  /// Opens the pipes of the command, and says hello.
  void start() {
    // Both are opened for reading and writing, because open() then does not wait for the command.
    output.reset(::open(from.c_str(), O_RDWR | O_CLOEXEC));
    input.reset(::open(to.c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(output);
    REQUIRE(input);
    WorkerHello hello;
    hello.revision = revision;
    hello.host = "here";
    hello.device.name = revision.role;
    hello.device.default_target = "cuda:90";
    hello.device.concurrency = 1;
    send({to_json(hello)});
    alive = std::jthread([this](const std::stop_token& stop) {
      while (system_clock().pause(std::chrono::milliseconds(kAliveMs), stop))
        static_cast<void>(try_send({{{"type", kAliveType}}}));  // the server may have hung up
    });
  }
  /// Ends the streams, so that the command ends.
  void end() {
    alive = {};
    output.reset();
    input.reset();
  }
  Status try_send(const Message& message) {
    const MutexLock lock(mutex);
    return sandbox::send_frame(output.get(), message.header, message.payload, {},
                               sandbox::Deadline::after_ms(kAnswerMs));
  }
  void send(const Message& message) { REQUIRE(try_send(message)); }
  sandbox::Frame next() {
    Result<sandbox::Frame> frame =
        sandbox::receive_frame(input.get(), sandbox::Deadline::after_ms(kAnswerMs));
    REQUIRE(frame);
    return std::move(*frame);
  }
  /// Returns the type of the next frame and the number of its order, such as "record 1".
  std::string next_shown() {
    const sandbox::Frame frame = next();
    const Result<std::int64_t> recording = read_recording(frame);
    return recording ? frame.type() + " " + std::to_string(*recording) : frame.type();
  }

  std::filesystem::path to, from;
  UniqueFd input, output;
  Mutex mutex;  // held while a frame is sent
  PoolSettings settings;
  WorkerRevision revision;
  std::jthread alive;
};

/// An execution of a job on the two workers.
struct Played {
  Played() {
    run = std::async(std::launch::async, [this]() -> Result<sandbox::Verdict> {
      ASSAY_TRY(lease, launches.take(stop.get_token(), {}));
      sandbox::JobMonitor monitor{.stop = stop.get_token()};
      return launches.run(lease, job, monitor);
    });
    recorder.start();
    launcher.start();
    const Result<JobTag> sent = read_tag(launcher.next());
    REQUIRE(sent);
    tag = *sent;
  }
  /// Sends a message of the worker that launches about the order.
  void launch(const char* type, std::int64_t recording) {
    launcher.send({recording_tagged(type, tag, recording)});
  }
  void record(std::int64_t recording) {
    recorder.send(recorded_message(tag, recording, {.ok = true, .verdict = {}}));
  }
  Result<sandbox::Verdict> end() {
    for (const Message& message : verdict_messages(tag, {})) launcher.send(message);
    return run.get();
  }

  Folder folder;
  PlayedWorker recorder{folder, kRoleRecord}, launcher{folder, kRoleLaunch};
  sandbox::Job job = [] {
    sandbox::Job made;
    made.id = "job_1";
    return made;
  }();
  std::stop_source stop;
  Fleet records{recorder.settings, recorder.revision, folder.path};
  Fleet launches{launcher.settings, launcher.revision, folder.path, &records};
  std::future<Result<sandbox::Verdict>> run;
  JobTag tag;
  /// Ends the execution before `run` waits for it, also if the constructor fails.
  struct Ending {
    explicit Ending(Played& whole) : of(whole) {}
    ~Ending() {
      of.stop.request_stop();
      of.launcher.end();
      of.recorder.end();
    }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    Played& of;
  } ending{*this};
};

}  // namespace

TEST_CASE("an order that follows one that was given up waits for its end, and gets an answer") {
  Played played;
  played.launch(kRecordType, 1);
  CHECK(played.recorder.next_shown() == "record_job");
  CHECK(played.recorder.next_shown() == "record 1");
  played.launch(kRecordEndType, 1);
  played.launch(kDisassembleType, 2);
  CHECK(played.recorder.next_shown() == "record_end 1");
  played.record(1);
  CHECK(played.launcher.next_shown() == "recorded 1");
  CHECK(played.recorder.next_shown() == "record_job");
  CHECK(played.recorder.next_shown() == "disassemble 2");
  played.record(2);
  CHECK(played.launcher.next_shown() == "recorded 2");
  const Result<sandbox::Verdict> verdict = played.end();
  REQUIRE(verdict);
  CHECK(verdict->provenance.recorder == "record-1@here");
}

TEST_CASE("a job gets its place on a worker that records, and this worker hears nothing of it") {
  Played played;
  CHECK(played.records.counts().busy == 0);
  played.launch(kPlaceType, 1);
  CHECK(played.launcher.next_shown() == "placed 1");
  CHECK(played.records.counts().busy == 1);
  played.launch(kRecordType, 2);
  CHECK(played.recorder.next_shown() == "record_job");
  CHECK(played.recorder.next_shown() == "record 2");
  played.record(2);
  CHECK(played.launcher.next_shown() == "recorded 2");
  CHECK(played.end());
}

TEST_CASE(
    "the end of a worker that records between two orders ends the execution at the next one") {
  Played played;
  played.launch(kRecordType, 1);
  CHECK(played.recorder.next_shown() == "record_job");
  CHECK(played.recorder.next_shown() == "record 1");
  played.record(1);
  CHECK(played.launcher.next_shown() == "recorded 1");
  played.recorder.end();
  played.launch(kRecordType, 2);
  REQUIRE(played.run.wait_for(std::chrono::milliseconds(kAnswerMs)) == std::future_status::ready);
  const Result<sandbox::Verdict> verdict = played.run.get();
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().code == ErrorCode::unavailable);
}

TEST_CASE("an execution ends as unavailable if no message can come for it any more") {
  Played played;
  std::promise<Error> failed;
  std::future<Error> failure = failed.get_future();
  RecordingRelay relay(
      played.records, {.job = played.job, .tag = played.tag, .alone = false},
      [](const sandbox::Frame&) { return Status(); },
      [&](const Error& error) { failed.set_value(error); });
  relay.inbox().close("the worker was lost");
  REQUIRE(failure.wait_for(std::chrono::milliseconds(kAnswerMs)) == std::future_status::ready);
  CHECK(failure.get().code == ErrorCode::unavailable);
  relay.stop();
}

TEST_CASE("a frame about a recording that has no number ends its worker and the execution") {
  Played played;
  played.launch(kRecordType, 1);
  CHECK(played.recorder.next_shown() == "record_job");
  CHECK(played.recorder.next_shown() == "record 1");
  played.recorder.send({tagged(kRecordedType, played.tag)});
  const Result<sandbox::Verdict> verdict = played.run.get();
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().code == ErrorCode::unavailable);
  CHECK(played.records.counts().losses == 1);
}
