#include "server/workers/worker_loop.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "sandbox/device/fake.h"
#include "server/workers/recording_messages.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

constexpr std::chrono::seconds kPatience(60);

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  UniqueFd read_end, write_end;
};

/// A worker on the fake device that speaks over two pipes, as under ssh.
struct Worker {
  explicit Worker(const RecordingService* recordings = nullptr) {
    WorkerHello hello;
    hello.device = device->info();
    hello.revision.device = "fake";
    loop.emplace(
        *device, hello, [](sandbox::Job&) { return Status(); }, nullptr, recordings);
    ended = std::async(std::launch::async, [this] {
      return loop->serve(to.read_end.get(), from.write_end.get(), stop.get_token());
    });
    REQUIRE(next().type() == kHelloType);
  }
  ~Worker() { to.write_end.reset(); }

  void send(const Message& message) {
    REQUIRE(sandbox::send_frame(to.write_end.get(), message.header, message.payload, {},
                                sandbox::Deadline::after_ms(60'000)));
  }
  /// Returns the next frame that is no sign of life.
  sandbox::Frame next() {
    while (true) {
      Result<sandbox::Frame> frame =
          sandbox::receive_frame(from.read_end.get(), sandbox::Deadline::after_ms(60'000));
      REQUIRE(frame);
      if (frame->type() != kAliveType) return std::move(*frame);
    }
  }
  sandbox::Verdict verdict() {
    while (true) {
      const sandbox::Frame frame = next();
      if (frame.type() != kVerdictType) continue;
      Result<sandbox::Verdict> read = read_verdict(frame);
      REQUIRE(read);
      return std::move(*read);
    }
  }

  Pipe to, from;
  std::stop_source stop;
  std::unique_ptr<sandbox::Device> device = sandbox::make_fake_device();
  std::optional<WorkerLoop> loop;
  std::future<Status> ended;
};

/// Says that its work has begun, and ends it when the test says so.
class BlockedRecorder final : public sandbox::Recorder {
 public:
  std::optional<sandbox::CandidateResults> record(sandbox::JobExecution&,
                                                  const sandbox::RecordRequest&) override {
    return std::nullopt;
  }
  Result<std::vector<sandbox::Artifact>> disassemble(sandbox::JobExecution&, const std::string&,
                                                     const std::string&) override {
    begun.set_value();
    go_on.get_future().wait_for(kPatience);  // a failed test does not set it
    return std::vector<sandbox::Artifact>{};
  }

  std::promise<void> begun, go_on;
};

sandbox::Job job_of(const std::string& source) {
  sandbox::Job job;
  job.id = "job_1";
  job.operator_name = "vector_add";
  job.source = source;
  job.cases = {{.id = "small", .axes = {}, .dtype = "float32", .distribution = "normal"}};
  return job;
}

}  // namespace

TEST_CASE("a worker runs a job over pipes and ends with its input") {
  Worker worker;
  worker.send(job_message(job_of("# fake: pass"), 1));
  CHECK(worker.verdict().outcome == sandbox::Outcome::pass);
  worker.to.write_end.reset();
  CHECK(worker.ended.get());
}

TEST_CASE("a worker takes a source that is larger than a pipe") {
  Worker worker;
  worker.send(job_message(job_of("# fake: pass\n#" + std::string(1U << 20, 'x')), 1));
  CHECK(worker.verdict().outcome == sandbox::Outcome::pass);
}

TEST_CASE("a worker ends a cancelled job") {
  Worker worker;
  worker.send(job_message(job_of("# fake: sleep_ms=50000"), 1));
  worker.send({tagged(kCancelType, {"job_1", 1})});
  CHECK(worker.verdict().error_kind == sandbox::ErrorKind::cancelled);
}

TEST_CASE("a worker that drains says so, ends its job, and then ends itself") {
  Worker worker;
  worker.send(job_message(job_of("# fake: sleep_ms=200"), 1));
  REQUIRE(worker.next().type() == kStageType);  // the worker has the job
  worker.stop.request_stop();
  bool said = false;
  while (true) {
    const sandbox::Frame frame = worker.next();
    said |= frame.type() == kDrainingType;
    if (frame.type() == kVerdictType) break;
  }
  CHECK(worker.ended.get());
  CHECK(said);
}

TEST_CASE("a request becomes a job, whose verdict becomes a result; a refusal is a result, too") {
  const auto device = sandbox::make_fake_device();
  WorkerHello hello;
  hello.device = device->info();
  WorkerLoop loop(
      *device, hello, [](sandbox::Job&) { return Status(); },
      [](const JobTag&, const std::string& body,
         const std::string& input_seed) -> tl::expected<WorkerLoop::Requested, nlohmann::json> {
        const nlohmann::json refusal = {{"state", "refused"}};
        if (body == "bad") return tl::unexpected<nlohmann::json>(refusal);
        WorkerLoop::Requested requested{.job = job_of(body), .result = nullptr};
        requested.result = [input_seed](const sandbox::Verdict& verdict, std::int64_t elapsed_ms) {
          return nlohmann::json{{"outcome", sandbox::to_string(verdict.outcome)},
                                {"seed", input_seed},
                                {"elapsed", elapsed_ms >= 0}};
        };
        return requested;
      });
  Pipe to, from;
  const std::stop_source stop;
  auto ended = std::async(std::launch::async, [&] {
    return loop.serve(to.read_end.get(), from.write_end.get(), stop.get_token());
  });
  std::int64_t attempt = 0;
  for (const char* body : {"# fake: pass", "bad"}) {
    nlohmann::json header = tagged(kEvaluateType, {"job_1", ++attempt});
    header["input_seed"] = "secret";
    REQUIRE(sandbox::send_frame(to.write_end.get(), header, body, {},
                                sandbox::Deadline::after_ms(60'000)));
    sandbox::Frame frame;
    do {
      auto received =
          sandbox::receive_frame(from.read_end.get(), sandbox::Deadline::after_ms(60'000));
      REQUIRE(received);
      frame = std::move(*received);
    } while (frame.type() != kResultType);
    const Result<JobTag> tag = read_tag(frame);
    REQUIRE(tag);
    CHECK(tag->attempt == attempt);
    const nlohmann::json result = nlohmann::json::parse(frame.payload);
    if (attempt == 2) {
      CHECK(result["state"] == "refused");
      continue;
    }
    CHECK(result["outcome"] == "pass");
    CHECK(result["seed"] == "secret");
    CHECK(result["elapsed"] == true);
  }
  to.write_end.reset();
  CHECK(ended.get());
}

TEST_CASE("without a function for requests, such a message ends the worker with an error") {
  Worker worker;
  worker.send({tagged(kEvaluateType, {"job_1", 1})});
  CHECK_FALSE(worker.ended.get());
}

TEST_CASE("an order that has no place is refused, and the worker serves the others") {
  BlockedRecorder recorder;
  const RecordingService recordings(recorder, 1);
  Worker worker(&recordings);
  const sandbox::Job job = job_of("the submission");
  const auto order = [](std::int64_t attempt, std::int64_t recording) {
    Message message{recording_tagged(kDisassembleType, {"job_1", attempt}, recording)};
    message.header["target"] = "cuda:90";
    return message;
  };
  const auto answer = [&] {
    const sandbox::Frame frame = worker.next();
    REQUIRE(frame.type() == kRecordedType);
    const Result<std::int64_t> recording = read_recording(frame);
    REQUIRE(recording);
    const Result<Recorded> recorded = read_recorded(frame);
    REQUIRE(recorded);
    return std::pair(*recording, recorded->ok);
  };
  worker.send(record_job_message(job, 1));
  worker.send(order(1, 1));
  REQUIRE(recorder.begun.get_future().wait_for(kPatience) == std::future_status::ready);
  worker.send(record_job_message(job, 1));  // the first order is not over
  worker.send(order(1, 2));
  CHECK(answer() == std::pair(std::int64_t{2}, false));
  worker.send(order(2, 7));  // without its job
  CHECK(answer() == std::pair(std::int64_t{7}, false));
  recorder.go_on.set_value();
  CHECK(answer() == std::pair(std::int64_t{1}, true));
  worker.to.write_end.reset();
  CHECK(worker.ended.get());
}

TEST_CASE("a worker ends with an error if its input is malformed") {
  Worker worker;
  const std::string noise(64, 'x');
  REQUIRE(::write(worker.to.write_end.get(), noise.data(), noise.size()) == 64);
  CHECK_FALSE(worker.ended.get());
}
