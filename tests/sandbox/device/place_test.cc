// Tests when a job takes its place on a worker that records.
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sandbox/device/cuda.h"
#include "sandbox/record/recorder.h"
#include "tests/catch.h"
#include "tests/sandbox/device/cuda_fixture.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Stands for the workers that record. A recording with hidden cases has no plans: it ends when the
/// job has made its inputs, or when `recording` has ended the job.
class StubRecorder final : public Recorder {
 public:
  std::optional<CandidateResults> record(JobExecution& run, const RecordRequest& request) override {
    imports += request.cases.empty() ? 1 : 0;
    if (recording) recording(run, request);
    if (!run.failed()) (void)request.options.before_hidden({});
    return std::nullopt;
  }
  assay::Status take_place(JobExecution&) override {
    if (placing) placing();
    return {};
  }
  Result<std::vector<Artifact>> disassemble(JobExecution&, const std::string&,
                                            const std::string&) override {
    return assay::fail(ErrorCode::unavailable, "no disassembler");
  }

  std::function<void(JobExecution&, const RecordRequest&)> recording;  // called first; may be null
  std::function<void()> placing;                                       // may be null
  int imports = 0;  // orders that only import the source
};

}  // namespace

TEST_CASE("a job gets its place on a worker that records before it gets a judge of its own") {
  // The operator ends the judge that makes its inputs, so later jobs get a judge of their own.
  const std::filesystem::path folder =
      copy_operator("ends_judges", "    case.device.type == 'meta' or __import__('os').abort()\n");
  Job job = copy_job(JobKind::test, kCopy);
  job.operator_dir = folder.string();
  Device& device = gpu(1);
  StubRecorder quiet, first, other;
  JobMonitor monitor{.recorder = &quiet};
  const Verdict ending = device.execute(job, monitor);
  INFO(ending.detail);
  REQUIRE(ending.error_kind == ErrorKind::reference_error);
  // One job has its own judge until the other one has asked for its place.
  std::promise<void> asked;
  std::stop_source stop;
  other.placing = [&] { asked.set_value(); };
  std::future<Verdict> waiting;
  first.recording = [&](JobExecution& run, const RecordRequest&) {
    waiting = std::async(std::launch::async, [&] {
      Job second = job;
      second.id += "_2";
      JobMonitor its{.stop = stop.get_token(), .recorder = &other};
      return device.execute(second, its);
    });
    const std::future_status place = asked.get_future().wait_for(std::chrono::seconds(60));
    CHECK((place == std::future_status::ready));
    stop.request_stop();
    CHECK(waiting.get().error_kind == ErrorKind::cancelled);
    run.fail(ErrorKind::syntax_error, Stage::import, "the end");
  };
  monitor.recorder = &first;
  CHECK(device.execute(job, monitor).error_kind == ErrorKind::syntax_error);
  CHECK(quiet.imports + first.imports + other.imports == 0);  // a place costs no import
}
