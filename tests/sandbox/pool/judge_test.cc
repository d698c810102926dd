#include "sandbox/pool/judge.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/unique_fd.h"
#include "tests/base/log_file.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"
#include "tests/sandbox/pool/scripted_judge.h"

namespace assay::sandbox {
namespace {

using testing::own_operator;
using testing::real_config;
using testing::ScriptedJudge;

Deadline at_once() { return Deadline::after_ms(0); }
Deadline long_enough() { return Deadline::after_ms(120'000); }

/// The type of the right answer to a request.
std::string answer_type(const nlohmann::json& request) {
  const std::string type = request.at("type");
  return type == "references" ? "referenced" : type == "settle" ? "settled" : "freed";
}

/// Sends an answer of this type to a request.
void answer(int socket, const nlohmann::json& request, const std::string& type) {
  ScriptedJudge::send(socket, {{"type", type},
                               {"job", request.value("job", std::string())},
                               {"case", request.value("case", std::string())},
                               {"reason", "defect"},
                               {"message", "ValueError"}});
}

/// Sends frames that answer no request, until the socket is closed.
void send_strays(int socket) {
  while (ScriptedJudge::send(socket, {{"type", "settled"}, {"job", "job_other"}})) continue;
}

const CaseName kCase{"job_1", "small"};

}  // namespace

TEST_CASE("a busy judge forgets a job later, and keeps its memory slot until then") {
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  Job first = testing::vector_add(JobKind::test, "");
  first.id = "job_first";
  REQUIRE(judge.prepare(first, long_enough()));
  CHECK(judge.compute_references({first.id, first.cases[0].id}, false, long_enough()));

  // The second job's inputs are made when the pipe has been written to and closed.
  const std::string pipe = real_config().state_dir + "/judge_is_busy";
  std::filesystem::remove(pipe);
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  Job second = own_operator("inputs_wait", "open('" + pipe + "').read()");
  second.id = "job_second";
  second.cases.resize(1);
  FifoSemaphore memory(1, "no memory");
  std::future<Result<PreparedJob>> prepared =
      std::async(std::launch::async, [&] { return judge.prepare(second, long_enough()); });
  {
    const UniqueFd writer(::open(pipe.c_str(), O_WRONLY));  // waits until the judge reads
    REQUIRE(writer);
    judge.release(first.id, std::move(*memory.acquire(at_once())));
    CHECK_FALSE(memory.acquire(at_once()));
    CHECK(prepared.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  }
  CHECK(prepared.get());
  CHECK(memory.acquire(long_enough()));
  constexpr std::chrono::milliseconds kLongest{100};
  const auto forgotten = judge.time_reference(first.id, first.cases[0].id, kLongest, long_enough());
  REQUIRE_FALSE(forgotten);
  CHECK(judge.time_reference(second.id, second.cases[0].id, kLongest, long_enough()));
}

TEST_CASE("the log of level trace has the type of each request to a judge and how long it took") {
  const assay::testing::LogFile file(log::Level::trace, log::Format::json);
  Spawner spawner;
  Judge judge(real_config(), spawner, "cpu");
  Job job = testing::vector_add(JobKind::test, "");
  REQUIRE(judge.prepare(job, long_enough()));
  REQUIRE(judge.compute_references({job.id, job.cases[0].id}, false, long_enough()));
  std::vector<std::string> types;
  for (const std::string& text : file.lines()) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line["message"] != "judge request") continue;
    types.push_back(line["type"]);
    CHECK(line["ms"].get<double>() > 0);
    CHECK(line["waited_ms"].get<double>() >= 0);
  }
  CHECK(types == std::vector<std::string>{"prepare", "references"});
}

TEST_CASE("a judge that sends frames without end is stopped, and the error names the limit") {
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(
      log, [](int socket, const nlohmann::json&) { send_strays(socket); }));
  const Status endless = judge.compute_references(kCase, false, long_enough());
  REQUIRE_FALSE(endless);
  CHECK((endless.error().code == ErrorCode::unavailable));
  CHECK(endless.error().message.find("kMostStrayFrames") != std::string::npos);
  CHECK(log.stops == 1);
  const Status late = judge.compute_references(kCase, false, at_once());
  REQUIRE_FALSE(late);
  CHECK((late.error().code == ErrorCode::unavailable));
  CHECK(late.error().message.find("longer than 0 ms (judge_wall_ms") != std::string::npos);
  CHECK(log.stops == 2);
}

TEST_CASE("the time limit of a request does not count the wait for a request of another job") {
  constexpr std::int64_t kLimitMs = 2'000;
  std::promise<void> is_asked, may_answer;
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(log, [&](int socket, const nlohmann::json& request) {
    if (request.at("job") == kCase.job) {
      is_asked.set_value();
      may_answer.get_future().wait();
    }
    answer(socket, request, answer_type(request));
  }));
  std::future<Status> slow = std::async(
      std::launch::async, [&] { return judge.compute_references(kCase, false, long_enough()); });
  is_asked.get_future().wait();
  const Deadline limit = Deadline::after_ms(kLimitMs);
  std::future<Status> waiting = std::async(std::launch::async, [&] {
    return judge.compute_references({"job_2", "small"}, false, limit);
  });
  while (!limit.expired()) CHECK(poll_until({}, limit) == 0);
  CHECK(waiting.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  may_answer.set_value();
  CHECK(slow.get());
  CHECK(waiting.get());
  CHECK(log.stops == 0);
}

TEST_CASE("a judge that is too slow names the case that it has begun, unless the case is hidden") {
  std::string begun;
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(log, [&](int socket, const nlohmann::json& request) {
    ScriptedJudge::send(socket, {{"type", "begun"}, {"job", "job_other"}, {"case", "large"}});
    ScriptedJudge::send(socket, {{"type", "begun"}, {"job", request.at("job")}, {"case", begun}});
  }));
  const Job job = testing::vector_add(JobKind::test, "");
  const auto error = [&](const std::string& id) {
    begun = id;
    const Result<PreparedJob> late = judge.prepare(job, Deadline::after_ms(1'000));
    REQUIRE_FALSE(late);
    CHECK((late.error().code == ErrorCode::unavailable));
    return late.error().message;
  };
  const std::string limit = " took longer than 1000 ms (judge_wall_ms, option --judge-wall-ms)";
  const std::string no_answer = "the judge did not answer: its work";
  CHECK(error("small") == no_answer + " on case 'small'" + limit);
  CHECK(error("hidden_small") == no_answer + " on a hidden case" + limit);
  CHECK(error("a case of another job") == no_answer + limit);
}

TEST_CASE("a cancellation ends the wait for a judge that always has another frame") {
  std::stop_source stop;
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(log, [&](int socket, const nlohmann::json&) {
    stop.request_stop();
    send_strays(socket);
  }));
  const Status ended =
      judge.compute_references(kCase, false, Deadline::after_ms(120'000, stop.get_token()));
  REQUIRE_FALSE(ended);
  CHECK((ended.error().code == ErrorCode::cancelled));
  CHECK(log.stops == 0);
}

TEST_CASE("a judge of an imported suite that sends a malformed answer is stopped") {
  std::atomic<bool> malformed = false;
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(log, [&](int socket, const nlohmann::json& request) {
    answer(socket, request, malformed ? "linted" : answer_type(request));
  }));
  const auto stops = [&](const auto& ask) {
    malformed = false;
    CHECK(judge.compute_references(kCase, false, long_enough()));
    CHECK(judge.free_memory(long_enough()));
    CHECK(judge.settle(kCase.job, long_enough()));
    const int before = log.stops;
    malformed = true;
    const auto refused = ask();
    REQUIRE_FALSE(refused);
    CHECK((refused.error().code == ErrorCode::unavailable));
    CHECK(refused.error().message.find("malformed") != std::string::npos);
    CHECK(log.stops == before + 1);
  };
  stops([&] { return judge.compute_references(kCase, false, long_enough()); });
  stops([&] { return judge.free_memory(long_enough()); });
  stops([&] { return judge.settle(kCase.job, long_enough()); });
}

TEST_CASE("a judge that cannot settle is stopped, and has no work then") {
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(log, [](int socket, const nlohmann::json& request) {
    const std::string type = answer_type(request);
    answer(socket, request, type == "settled" ? "judge_error" : type);
  }));
  REQUIRE(judge.compute_references(kCase, false, long_enough()));
  CHECK_FALSE(judge.settle(kCase.job, long_enough()));
  CHECK(log.stops == 1);
  CHECK(judge.settle(kCase.job, long_enough()));
  CHECK(log.starts == 1);
}

TEST_CASE("a judge that its operator's code has ended did not give way to a timed job") {
  bool ended = false;
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(log, [&](int socket, const nlohmann::json& request) {
    const bool settles = request.at("type") == "settle";
    if (!settles && !ended) return answer(socket, request, answer_type(request));
    ended = true;
    ScriptedJudge::send(socket, {{"type", "judge_error"},
                                 {"job", request.at("job")},
                                 {"reason", settles ? "context_lost" : "unknown_job"},
                                 {"message", "an illegal memory access"}});
  }));
  REQUIRE(judge.compute_references(kCase, false, long_enough()));
  CHECK_FALSE(judge.settle("job_2", long_enough()));
  const Status after = judge.compute_references(kCase, false, long_enough());
  REQUIRE_FALSE(after);
  CHECK((after.error().code == ErrorCode::not_found));
}

TEST_CASE("a judge that is busy for all of the time in which it should settle is stopped") {
  std::promise<void> busy;
  ScriptedJudge::Log log;
  Judge judge(
      std::make_unique<ScriptedJudge>(log, [&](int, const nlohmann::json&) { busy.set_value(); }));
  std::future<Status> asked = std::async(
      std::launch::async, [&] { return judge.compute_references(kCase, false, long_enough()); });
  busy.get_future().wait();
  CHECK_FALSE(judge.settle("job_2", at_once()));
  const Status ended = asked.get();
  REQUIRE_FALSE(ended);
  CHECK((ended.error().code == ErrorCode::preempted));
  CHECK(log.stops == 1);
  CHECK(judge.settle("job_2", at_once()));
}

TEST_CASE("a job whose judge was ended for a timed job, between its requests, is not to blame") {
  bool knows = true;
  ScriptedJudge::Log log;
  Judge judge(std::make_unique<ScriptedJudge>(log, [&](int socket, const nlohmann::json& request) {
    if (request.at("type") == "settle") return;  // computes references in advance, for long
    nlohmann::json error = {{"type", "judge_error"}, {"reason", "unknown_job"}};
    error.update({{"job", request.at("job")}, {"message", "no inputs"}});
    if (knows)
      answer(socket, request, answer_type(request));
    else
      ScriptedJudge::send(socket, error);
  }));
  const auto code = [&] {
    const Status asked = judge.compute_references(kCase, false, long_enough());
    return asked ? ErrorCode::internal : asked.error().code;
  };
  REQUIRE(judge.compute_references(kCase, false, long_enough()));
  CHECK_FALSE(judge.settle("job_2", at_once()));
  knows = false;
  CHECK((code() == ErrorCode::preempted));
  // The next process ends because of the operator's code.
  CHECK_FALSE(judge.compute_references(kCase, false, at_once()));
  CHECK((code() == ErrorCode::not_found));
}

}  // namespace assay::sandbox
