#include "sandbox/pool/process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "base/unique_fd.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::int64_t kWaitMs = 20'000;

}  // namespace

TEST_CASE("a process with a session of its own takes the processes that it started with it") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  Spawner spawner;
  // The shell leaves a process behind, which has the write end of the pipe.
  Result<Process> process = spawner.spawn({.argv = {"/bin/sh", "-c", "sleep 300 & exec true"},
                                           .environment = trusted_environment(),
                                           .inherit = {},
                                           .log = "",
                                           .output = write_end.get(),
                                           .own_session = true});
  REQUIRE(process);
  write_end.reset();
  REQUIRE(process->wait(Deadline::after_ms(kWaitMs)));
  std::array<pollfd, 1> entries{{{read_end.get(), POLLIN, 0}}};
  CHECK(poll_until(entries, Deadline::after_ms(kWaitMs)) > 0);  // nobody has the write end any more
}

TEST_CASE("a process that was left may tidy up if it ignores SIGTERM, as that of srun does") {
  std::array<int, 2> in{}, out{};
  REQUIRE(::pipe2(in.data(), O_CLOEXEC) == 0);
  REQUIRE(::pipe2(out.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  UniqueFd child_in(in[0]), child_out(out[1]);
  const UniqueFd to(in[1]), from(out[0]);
  Spawner spawner;
  Result<Process> process =
      spawner.spawn({.argv = {"/bin/sh", "-c", "trap '' TERM; exec 3<&0; cat <&3 & exec true"},
                     .environment = trusted_environment(),
                     .inherit = {},
                     .log = "",
                     .output = child_out.get(),
                     .input = child_in.get(),
                     .own_session = true});
  REQUIRE(process);
  child_in.reset();
  child_out.reset();
  REQUIRE(process->wait(Deadline::after_ms(kWaitMs)));
  REQUIRE(::write(to.get(), "x", 1) == 1);
  std::array<pollfd, 1> entries{{{from.get(), POLLIN, 0}}};
  REQUIRE(poll_until(entries, Deadline::after_ms(kWaitMs)) > 0);
  char answer = ' ';
  CHECK(::read(from.get(), &answer, 1) == 1);
  CHECK(answer == 'x');
}

TEST_CASE("the status of a process with a session of its own is known") {
  Spawner spawner;
  Result<Process> process = spawner.spawn({.argv = {"/bin/sh", "-c", "exit 7"},
                                           .environment = {},
                                           .inherit = {},
                                           .log = "",
                                           .own_session = true});
  REQUIRE(process);
  const auto status = process->wait(Deadline::after_ms(kWaitMs));
  REQUIRE(status);
  CHECK(status->value == 7);
  CHECK(process->wait(Deadline::after_ms(0))->value == 7);
  CHECK_FALSE(process->alive());
}
