#include "sandbox/pool/judge.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

namespace assay::sandbox {
namespace {

using testing::own_operator;
using testing::real_config;

Deadline at_once() { return Deadline::after_ms(0); }
Deadline long_enough() { return Deadline::after_ms(120'000); }

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
  const auto forgotten = judge.time_reference(first.id, first.cases[0].id, long_enough());
  REQUIRE_FALSE(forgotten);
  CHECK(judge.time_reference(second.id, second.cases[0].id, long_enough()));
}

}  // namespace assay::sandbox
