#include "server/workers/worker_messages.h"

#include <filesystem>
#include <fstream>

#include "base/handle.h"
#include "sandbox/job/distant_sources.h"
#include "sandbox/job/verdict_builder.h"
#include "tests/catch.h"
#include "tests/tools/full_verdict.h"
#include "tools/json/verdict_json.h"

using namespace assay;
using namespace assay::server;

namespace {

sandbox::Frame received(const Message& message) { return {message.header, message.payload, {}}; }

WorkerHello some_hello() {
  WorkerHello hello;
  hello.revision = {
      .assay = "1", .harness = "aa", .suite = "bb", .device = "cuda:0", .strict = true};
  hello.host = "node7";
  hello.pid = 12;
  hello.device = {.name = "cuda:0",
                  .description = "a GPU",
                  .can_time = true,
                  .best_tier = sandbox::Tier::plan,
                  .default_target = "cuda:90",
                  .concurrency = 4,
                  .hardware = {.name = "NVIDIA H200",
                               .memory_bytes = 150'000'000'000,
                               .driver = "580.1",
                               .clock_khz = 1'980'000,
                               .bandwidth_bytes_per_s = 4'900'000'000'000}};
  hello.layers = {{"seccomp", true, ""}, {"landlock", true, ""}};
  return hello;
}

}  // namespace

TEST_CASE("a hello arrives as it was sent") {
  const WorkerHello sent = some_hello();
  const Result<WorkerHello> hello = read_hello(received({to_json(sent)}));
  REQUIRE(hello);
  CHECK(hello->revision == sent.revision);
  CHECK(hello->host == "node7");
  CHECK(hello->pid == 12);
  CHECK(hello->device.description == "a GPU");
  CHECK(hello->device.can_time);
  CHECK(hello->device.best_tier == sandbox::Tier::plan);
  CHECK(hello->device.concurrency == 4);
  CHECK(hello->device.hardware == sent.device.hardware);
  REQUIRE(hello->layers.size() == 2);
  CHECK(hello->layers[1].name == "landlock");
  CHECK(hello->layers[1].active);
}

TEST_CASE("a hello has exactly these fields") {
  CHECK(to_json(some_hello()) == nlohmann::json::parse(R"({
    "type": "hello", "protocol": 5, "assay": "1", "harness": "aa", "suite": "bb", "role": "all",
    "host": "node7", "pid": 12, "strict_isolation": true,
    "layers": [{"name": "seccomp", "active": true, "detail": ""},
               {"name": "landlock", "active": true, "detail": ""}],
    "device": {"name": "cuda:0", "description": "a GPU", "can_time": true, "best_tier": "plan",
               "default_target": "cuda:90", "concurrency": 4,
               "class": {"name": "NVIDIA H200", "memory_bytes": 150000000000, "driver": "580.1",
                         "clock_khz": 1980000, "bandwidth_bytes_per_s": 4900000000000}}})"));
}

TEST_CASE("a server with strict isolation refuses a worker whose sandbox is weaker") {
  WorkerRevision strict = some_hello().revision;
  strict.strict = true;
  WorkerHello hello = some_hello();
  CHECK(weakness(strict, hello).empty());
  hello.layers[1] = {"landlock", false, "the kernel has none"};
  CHECK(missing_layers(hello.layers) == "landlock");
  CHECK(weakness(strict, hello).find("lacks the layer landlock (the kernel has none)") !=
        std::string::npos);
  WorkerRevision best_effort = some_hello().revision;
  best_effort.strict = false;
  CHECK(weakness(best_effort, hello).empty());  // the verdicts name the layer
  hello.layers[1].name = "land\x1b[2J";
  CHECK(missing_layers(hello.layers) == "land\\x1b[2J");  // a terminal may show it
  hello.layers.clear();
  CHECK(weakness(strict, hello).find("names no layers") != std::string::npos);
  hello.device.name = "fake";  // it runs no submissions
  CHECK(weakness(strict, hello).empty());
}

TEST_CASE("a server with strict isolation refuses a worker that may use weaker jails later") {
  const WorkerRevision strict = some_hello().revision;
  WorkerHello hello = some_hello();
  hello.revision.strict = false;
  CHECK(weakness(strict, hello) ==
        "it runs without --isolation strict, and the server has it; add the option to the command "
        "of `assay worker`");
  CHECK(weakness(hello.revision, hello).empty());
}

TEST_CASE("a wrong hello names the field, and another protocol comes first") {
  nlohmann::json header = to_json(some_hello());
  header["device"]["class"]["clock_khz"] = -1;
  CHECK(read_hello(received({header})).error().message.find("clock_khz") != std::string::npos);
  header["device"].erase("class");
  CHECK(read_hello(received({header})).error().message.find("class") != std::string::npos);
  header.erase("layers");
  CHECK(read_hello(received({header})).error().message.find("layers") != std::string::npos);
  header = to_json(some_hello());
  header["device"]["concurrency"] = 0;
  CHECK(read_hello(received({header})).error().message.find("concurrency") != std::string::npos);
  header["protocol"] = 1;
  CHECK(read_hello(received({header})).error().message.find("speaks protocol 1") !=
        std::string::npos);
}

TEST_CASE("a difference of revisions says what to do") {
  const WorkerRevision mine = some_hello().revision;
  CHECK(difference(mine, mine).empty());
  WorkerRevision other = mine;
  other.device = "cpu";
  CHECK(difference(mine, other).find("serves device cpu") != std::string::npos);
  other.suite = "cc";
  CHECK(difference(mine, other).find("--suite") != std::string::npos);
  other.assay = "2";
  CHECK(difference(mine, other).find("version 2") != std::string::npos);
  WorkerRevision any_device = mine;
  any_device.device.clear();
  CHECK(difference(any_device, mine).empty());
}

TEST_CASE("a job arrives with the fields that the store does not keep") {
  sandbox::Job job;
  job.id = "job_1";
  job.run = "run_1";
  job.caller = "alice";
  job.operator_name = "vector_add";
  job.operator_dir = "/of/the/server";
  job.source = "\x7f line\n";
  job.every_case = true;
  job.limits.run_wall_ms = 77;
  const sandbox::Frame frame = received(job_message(job, 2));
  const Result<JobTag> tag = read_tag(frame);
  REQUIRE(tag);
  CHECK(*tag == JobTag{"job_1", 2});
  const Result<sandbox::Job> again = read_job(frame);
  REQUIRE(again);
  CHECK(again->run == "run_1");
  CHECK(again->source == job.source);
  CHECK(again->every_case);
  CHECK(again->limits.run_wall_ms == 77);
  CHECK(again->operator_dir.empty());  // the worker finds the folder itself
  CHECK(again->caller.size() == 64);   // a worker does not learn who calls
  CHECK(read_job(received(job_message(job, 3)))->caller == again->caller);
  job.caller = "ben";
  CHECK(read_job(received(job_message(job, 3)))->caller != again->caller);
}

TEST_CASE("a verdict and its artifacts arrive as they were sent") {
  sandbox::Verdict sent = testing::full_verdict();
  sent.reports_shortage = true;
  sent.run_cpu_ms = 5;
  const std::vector<Message> messages = verdict_messages({"job_1", 1}, sent);
  REQUIRE(messages.size() == sent.artifacts.size() + 1);
  Result<sandbox::Verdict> verdict = read_verdict(received(messages.back()));
  REQUIRE(verdict);
  CHECK(verdict->reports_shortage);
  CHECK(verdict->run_cpu_ms == 5);
  for (std::size_t i = 0; i + 1 < messages.size(); ++i) {
    Result<sandbox::Artifact> artifact = read_artifact(received(messages[i]));
    REQUIRE(artifact);
    verdict->artifacts.push_back(std::move(*artifact));
  }
  CHECK(tools::verdict_to_json(*verdict) == tools::verdict_to_json(sent));
}

TEST_CASE("stages and numbers of cases arrive, and unknown stages do not") {
  Message stage = stage_message({"job_1", 1}, sandbox::Stage::judge);
  CHECK(read_stage(received(stage)) == sandbox::Stage::judge);
  stage.header["stage"] = "dance";
  CHECK_FALSE(read_stage(received(stage)));
  const Result<CasesDone> cases = read_cases(received(cases_message({"job_1", 1}, {3, 5})));
  REQUIRE(cases);
  CHECK(cases->done == 3);
  CHECK(cases->total == 5);
}

TEST_CASE("a worker that launches gets no sources, except the text that a profile quotes") {
  sandbox::Job job;
  job.id = "job_1";
  job.source = "the submission";
  job.baseline_source = "the oracle";
  const Message message = launch_message(job, 1);
  CHECK(message.payload.find("the submission") == std::string::npos);
  CHECK(message.payload.find("the oracle") == std::string::npos);
  const Result<sandbox::Job> bare = read_job(received(message));
  REQUIRE(bare);
  REQUIRE(bare->distant_sources);
  CHECK(bare->distant_sources->sha256 == sha256_hex(job.source));
  CHECK(sandbox::has_oracle(*bare));
  CHECK(sandbox::begin_verdict(*bare).provenance.source_sha256 == sha256_hex(job.source));
  job.kind = sandbox::JobKind::profile;
  const Result<sandbox::Job> profiled = read_job(received(launch_message(job, 1)));
  REQUIRE(profiled);
  CHECK(profiled->source == "the submission");
  CHECK(profiled->baseline_source.empty());
}

TEST_CASE("another role is a difference") {
  const WorkerRevision mine = some_hello().revision;
  WorkerRevision other = mine;
  other.role = kRoleLaunch;
  CHECK(difference(mine, other).find("its role is launch, and its pool has role all") !=
        std::string::npos);
}
