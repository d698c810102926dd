// Tests the messages about recordings, and both of their ends: a recorder of a worker that launches
// and the service of a worker that records, with frames that pass from one to the other.
#include "server/workers/recording_messages.h"

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/wire/memfd.h"
#include "server/workers/distant_recorder.h"
#include "server/workers/recording_service.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::server;
using sandbox::CandidateResults;
using sandbox::CaseDone;
using sandbox::JobExecution;
using sandbox::RecordRequest;

namespace {

const JobTag kTag{"job_1", 2};

sandbox::Frame frame_of(const Message& message) { return {message.header, message.payload, {}}; }

/// A job with a public and a hidden case. The argument `n` is structural.
sandbox::Job some_job() {
  sandbox::Job job;
  job.id = "job_1";
  job.source = "the submission";
  job.baseline_source = "the oracle";
  job.cases = {
      {.id = "open", .axes = {}, .dtype = "float32", .distribution = "normal"},
      {.id = "secret", .hidden = true, .axes = {}, .dtype = "float32", .distribution = "normal"}};
  return job;
}

sandbox::PreparedJob some_cases() {
  sandbox::PreparedJob prepared;
  for (const char* id : {"open", "secret"}) {
    sandbox::PreparedCase one;
    one.id = id;
    one.seed = "never sent";
    one.arguments = {{.name = "x", .dtype = "float32", .shape = {4}, .strides = {1}, .nbytes = 16},
                     {.name = "n",
                      .dtype = "int64",
                      .shape = {1},
                      .strides = {1},
                      .fd = static_cast<std::int64_t>(prepared.fds.size()),
                      .offset = 3,
                      .nbytes = 8}};
    one.structural = {"n"};
    one.outputs = {{.name = "y", .dtype = "float32", .from = "", .shape = {4}, .nbytes = 16}};
    one.axes = {{"n", 4}};
    prepared.cases.push_back(std::move(one));
    Result<UniqueFd> values =
        sandbox::create_sealed_memfd("values", std::string("...") + id + "+-+-+-+-");
    REQUIRE(values);
    prepared.fds.push_back(std::move(*values));
  }
  return prepared;
}

/// Records at once. A plan is the source and the case's id.
class StubRecorder final : public sandbox::Recorder {
 public:
  std::optional<CandidateResults> record(JobExecution& run, const RecordRequest& request) override {
    run.enter(sandbox::Stage::import);
    if (fails) {
      run.verdict().stdout_text = "hello";
      run.fail(sandbox::ErrorKind::syntax_error, sandbox::Stage::import, "line 3");
      return std::nullopt;
    }
    CandidateResults results;
    std::vector<CaseDone> open;
    for (const std::size_t i : request.cases) {
      CaseDone done;
      done.id = request.prepared.cases[i].id;
      done.plan = request.source + " " + done.id;
      sandbox::KernelReport& kernel = done.kernels.emplace_back();
      kernel.name = "k";
      kernel.target = request.target;
      kernel.registers = 7;
      kernel.grid = {1, 2, 3};
      if (!sandbox::is_hidden(run.job(), done.id)) open.push_back(done);
      results.cases.push_back(std::move(done));
    }
    run.verdict().provenance.triton = "3.6.0";
    if (open.size() < results.cases.size() && request.options.before_hidden &&
        !request.options.before_hidden(open))
      return std::nullopt;
    hidden_recorded = true;
    results.artifacts = {{"ptx", "k", "text"}};
    return results;
  }
  Result<std::vector<sandbox::Artifact>> disassemble(JobExecution&, const std::string& target,
                                                     const std::string& plan) override {
    if (fails) return fail(ErrorCode::unavailable, "no disassembler");
    return std::vector<sandbox::Artifact>{{"sass", target, plan}};
  }

  bool fails = false, hidden_recorded = false;
};

/// Both ends. Each message of one end goes to the inbox of the other.
struct Ends {
  /// Serves one order in a thread while `work` runs.
  template <class Work>
  void during_one_order(const Work& work) {
    auto served = std::async(std::launch::async, [&] {
      for (Message& message : service.serve({.tag = kTag,
                              .job = job,
                              .inbox = to_recorder,
                              .put = [&](const Message& one) { to_launcher.put(frame_of(one)); },
                              .stop = stop.get_token()}))
        to_launcher.put(frame_of(message));
    });
    work();
    stop.request_stop();
    served.get();
  }

  StubRecorder stub;
  sandbox::Job job = some_job();
  FrameInbox to_recorder, to_launcher;
  std::stop_source stop;
  RecordingService service{stub, 2};
  DistantRecorder recorder{kTag, to_launcher,
                           [&](const Message& message) { to_recorder.put(frame_of(message)); }};
  sandbox::JobMonitor monitor;
  JobExecution run{job, monitor};
  sandbox::PreparedJob prepared = some_cases();
  std::string target = "cuda:90", no_source;
};

}  // namespace

TEST_CASE("an order has the cases and their structural values, and no seeds") {
  const sandbox::PreparedJob prepared = some_cases();
  const std::string target = "cuda:90", source;
  const RecordRequest request{.prepared = prepared,
                              .cases = {1, 0},
                              .target = target,
                              .source = source,
                              .options = {.alternatives = true, .candidates = 2},
                              .whose = sandbox::RecordedSource::oracle};
  const Result<Message> message = record_message(kTag, 3, request);
  REQUIRE(message);
  CHECK(message->header.dump().find("never sent") == std::string::npos);
  sandbox::Frame frame = frame_of(*message);
  Result<RecordingOrder> order = read_order(frame);
  REQUIRE(order);
  CHECK(order->recording == 3);
  CHECK(order->target == target);
  CHECK(order->whose == sandbox::RecordedSource::oracle);
  CHECK(order->options.alternatives);
  CHECK(order->options.candidates == 2);
  CHECK_FALSE(order->asks);
  REQUIRE(order->prepared.cases.size() == 2);
  CHECK(order->prepared.cases[0].id == "secret");
  CHECK(order->prepared.cases[0].axes.at("n") == 4);
  CHECK(order->prepared.cases[0].outputs[0].nbytes == 16);
  CHECK_FALSE(order->prepared.cases[0].arguments[0].fd);
  const sandbox::Argument& values = order->prepared.cases[0].arguments[1];
  REQUIRE(values.fd);
  const auto mapped = sandbox::Mapping::map(
      order->prepared.fds[static_cast<std::size_t>(*values.fd)].get(), 8, false);
  REQUIRE(mapped);
  CHECK(std::string(reinterpret_cast<const char*>(mapped->data()), 8) == "secret+-");
}

TEST_CASE("values outside their memory file are an error, and their pages are not touched") {
  sandbox::PreparedJob prepared = some_cases();
  const std::string target = "cuda:90", source;
  const auto code_of = [&](std::int64_t offset, std::int64_t nbytes) {
    sandbox::Argument& values = prepared.cases[0].arguments[1];
    values.offset = offset;
    values.nbytes = nbytes;
    const Result<Message> message = record_message(
        kTag, 1, {.prepared = prepared, .cases = {0}, .target = target, .source = source});
    return message ? std::optional<ErrorCode>() : message.error().code;
  };
  const auto size = static_cast<std::int64_t>(std::string("...open+-+-+-+-").size());
  CHECK_FALSE(code_of(size - 8, 8));
  CHECK(code_of(size - 7, 8) == ErrorCode::corrupt);
  CHECK(code_of(size + 1, 0) == ErrorCode::corrupt);
  CHECK(code_of(std::int64_t{1} << 40, 8) == ErrorCode::corrupt);
  CHECK(code_of(0, std::int64_t{1} << 24) == ErrorCode::corrupt);
}

TEST_CASE("a malformed order names its field") {
  const sandbox::PreparedJob prepared = some_cases();
  const std::string target = "cuda:90", source;
  const Result<Message> good = record_message(
      kTag, 1, {.prepared = prepared, .cases = {0}, .target = target, .source = source});
  REQUIRE(good);
  const auto error_of = [&](const std::string& field, const nlohmann::json& value) {
    sandbox::Frame frame = frame_of(*good);
    frame.header[field] = value;
    const Result<RecordingOrder> order = read_order(frame);
    REQUIRE_FALSE(order);
    return order.error().message;
  };
  CHECK(error_of("source", "mine").find("submission or oracle") != std::string::npos);
  CHECK(error_of("recording", 0).find("recording") != std::string::npos);
  CHECK(error_of("values", {9}).find("shorter") != std::string::npos);
  CHECK(error_of("values", {7}).find("longer") != std::string::npos);
  CHECK(error_of("cases", 7).find("cases") != std::string::npos);
}

TEST_CASE("hidden cases are recorded after the public ones have passed") {
  Ends ends;
  std::vector<std::string> asked;
  ends.during_one_order([&] {
    const auto results = ends.recorder.record(
        ends.run, {.prepared = ends.prepared,
                   .cases = {0, 1},
                   .target = ends.target,
                   .source = ends.no_source,
                   .options = {.before_hidden = [&](const std::vector<CaseDone>& open) {
                     for (const CaseDone& done : open) asked.push_back(done.plan);
                     return !ends.stub.hidden_recorded;
                   }}});
    REQUIRE(results);
    REQUIRE(results->cases.size() == 2);
    CHECK(results->cases[1].plan == "the submission secret");
    CHECK(results->cases[1].kernels[0].registers == 7);
    CHECK(results->artifacts[0].bytes == "text");
  });
  CHECK(asked == std::vector<std::string>{"the submission open"});
  CHECK(ends.stub.hidden_recorded);
  CHECK(ends.run.verdict().provenance.triton == "3.6.0");
}

TEST_CASE("hidden cases are not recorded if a public one is wrong") {
  Ends ends;
  ends.during_one_order([&] {
    CHECK_FALSE(ends.recorder.record(
        ends.run,
        {.prepared = ends.prepared,
         .cases = {0, 1},
         .target = ends.target,
         .source = ends.no_source,
         .options = {.before_hidden = [](const std::vector<CaseDone>&) { return false; }}}));
  });
  CHECK_FALSE(ends.stub.hidden_recorded);
  CHECK_FALSE(ends.run.verdict().tells_hidden);
  CHECK_FALSE(ends.run.failed());
}

TEST_CASE("an error of a recording is the error of the job, with its output") {
  Ends ends;
  ends.stub.fails = true;
  ends.during_one_order([&] {
    CHECK_FALSE(ends.recorder.record(ends.run, {.prepared = ends.prepared,
                                                .cases = {0},
                                                .target = ends.target,
                                                .source = ends.no_source}));
  });
  CHECK(ends.run.verdict().error_kind == sandbox::ErrorKind::syntax_error);
  CHECK(ends.run.verdict().stage == sandbox::Stage::import);
  CHECK(ends.run.verdict().detail == "line 3");
  CHECK(ends.run.verdict().stdout_text == "hello");
}

TEST_CASE("a hidden case that comes too early ends the job") {
  Ends ends;
  CaseDone secret;
  secret.id = "secret";
  ends.to_launcher.put(frame_of(recorded_case_message(kTag, 1, secret)));
  CHECK_FALSE(ends.recorder.record(
      ends.run, {.prepared = ends.prepared,
                 .cases = {0, 1},
                 .target = ends.target,
                 .source = ends.no_source,
                 .options = {.before_hidden = [](const std::vector<CaseDone>&) { return true; }}}));
  CHECK(ends.run.verdict().error_kind == sandbox::ErrorKind::internal_error);
  CHECK(ends.run.verdict().detail.find("before the public ones") != std::string::npos);
}

TEST_CASE("a plan is disassembled on the other worker, and a lost one is an error") {
  Ends ends;
  ends.during_one_order([&] {
    const auto listings = ends.recorder.disassemble(ends.run, "cuda:90", "a plan");
    REQUIRE(listings);
    REQUIRE(listings->size() == 1);
    CHECK((*listings)[0].bytes == "a plan");
  });
  ends.to_launcher.close("the worker was lost");
  const auto lost = ends.recorder.disassemble(ends.run, "cuda:90", "a plan");
  REQUIRE_FALSE(lost);
  CHECK(lost.error().message.find("the worker was lost") != std::string::npos);
}

TEST_CASE("a job asks the server for its place, and an error instead of it ends the wait") {
  Ends ends;
  ends.to_launcher.put(frame_of({recording_tagged(kPlacedType, kTag, 1)}));
  CHECK(ends.recorder.take_place(ends.run));
  const Result<sandbox::Frame> asked = ends.to_recorder.wait(sandbox::Deadline::after_ms(0));
  REQUIRE(asked);
  CHECK(asked->type() == kPlaceType);
  ends.to_launcher.close("the worker was lost");
  const Status lost = ends.recorder.take_place(ends.run);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().message == "the worker was lost");
}
