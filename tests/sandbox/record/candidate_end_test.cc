// Tests that an error counts against a submission only with evidence.
#include "sandbox/record/candidate_end.h"

#include <csignal>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;
using Kind = CandidateEvent::Kind;

namespace {

const Limits kLimits;

ExitStatus by_signal(int signal) { return {ExitStatus::How::killed, signal}; }
ExitStatus by_exit(int status) { return {ExitStatus::How::exited, status}; }

std::string kind_of(const CandidateEnd& end) {
  return std::string(to_string(error_of(end, kLimits).kind));
}

}  // namespace

TEST_CASE("what the submission did counts against it") {
  CHECK(kind_of({.status = by_signal(SIGSEGV)}) == "crash");
  CHECK(kind_of({.status = by_signal(SIGSYS)}) == "crash");
  CHECK(kind_of({.status = by_exit(3)}) == "protocol_error");
  CHECK(kind_of({.status = by_signal(SIGKILL), .was_killed = true}) == "protocol_error");
  CHECK(kind_of({.status = by_exit(0), .out_of_processes = true}) == "process_limit");
  CHECK(kind_of({.status = by_signal(SIGKILL), .out_of_memory = true}) == "memory_limit");
  CHECK(kind_of({.event = Kind::flood}) == "output_limit");
  CHECK(kind_of({.event = Kind::malformed, .was_killed = true}) == "protocol_error");
  CHECK(kind_of({.event = Kind::timeout, .was_killed = true, .wall_ms = 1'000}) == "timeout");
}

TEST_CASE("what something else did to the candidate does not count against the submission") {
  CHECK(kind_of({.status = by_signal(SIGKILL)}) == "internal_error");
  CHECK(kind_of({.status = std::nullopt}) == "internal_error");
  CHECK(kind_of({.status = std::nullopt, .was_killed = true}) == "internal_error");
  CHECK(kind_of({.status = by_signal(SIGKILL), .machine_out_of_memory = true}) == "internal_error");
  CHECK(kind_of({.event = Kind::timeout, .machine_out_of_memory = true}) == "internal_error");
  CHECK(kind_of({.event = Kind::broken, .was_killed = true}) == "internal_error");
  CHECK(kind_of({.event = Kind::cancelled, .was_killed = true}) == "cancelled");
}

TEST_CASE("a candidate that ended before it ran code of the submission says nothing about it") {
  CHECK(kind_of({.status = by_exit(3), .ran_code = false}) == "internal_error");
  CHECK(kind_of({.status = by_exit(0), .was_killed = true, .ran_code = false}) == "internal_error");
  CHECK(kind_of({.status = by_signal(SIGSEGV), .ran_code = false}) == "crash");  // of the parser
  CHECK(kind_of({.event = Kind::timeout, .ran_code = false, .wall_ms = 1'000}) == "timeout");
}

TEST_CASE("a time limit that passed while the candidate waited for a processor is no evidence") {
  const auto after_a_second = [](std::optional<CpuTimes> cpu) {
    if (cpu) cpu->counts_all = true;
    return kind_of({.event = Kind::timeout, .cpu = cpu, .wall_ms = 1'000});
  };
  CHECK(after_a_second(std::nullopt) == "timeout");
  CHECK(after_a_second(CpuTimes{.used_ms = 990, .waited_ms = 10}) == "timeout");
  CHECK(after_a_second(CpuTimes{.used_ms = 0, .waited_ms = 0}) == "timeout");  // it slept
  CHECK(after_a_second(CpuTimes{.used_ms = 100, .waited_ms = 900}) == "internal_error");
  CHECK(after_a_second(CpuTimes{.used_ms = 300, .waited_ms = 700}) == "timeout");
  // Many threads that wait for each other use a lot of processor time together.
  CHECK(after_a_second(CpuTimes{.used_ms = 1'900, .waited_ms = 900}) == "timeout");
  // A limit of a tenth of a core stops the process most of the time.
  CHECK_FALSE(
      lacked_cpu(CpuTimes{.used_ms = 100, .waited_ms = 900, .counts_all = true}, 1'000, 10));
  CHECK(lacked_cpu(CpuTimes{.used_ms = 20, .waited_ms = 980, .counts_all = true}, 1'000, 10));
  const EndError error =
      error_of({.event = Kind::timeout,
                .cpu = CpuTimes{.used_ms = 100, .waited_ms = 900, .counts_all = true},
                .wall_ms = 1'000},
               kLimits);
  CHECK(error.detail ==
        "the machine is overloaded: within the time limit of 1000 ms, the candidate waited 900 ms "
        "for a processor");
}

TEST_CASE("a candidate cannot blame the machine by processes whose time nobody counts") {
  // Without a cgroup, children that end while their parent ignores SIGCHLD are counted nowhere.
  const CpuTimes hidden{.used_ms = 100, .waited_ms = 900};
  CHECK(kind_of({.event = Kind::timeout, .cpu = hidden, .wall_ms = 1'000}) == "timeout");
}

TEST_CASE("the text of an end names the limit or the signal") {
  CHECK(error_of({.event = Kind::timeout, .wall_ms = 250}, kLimits).detail ==
        "ran longer than 250 ms");
  CHECK(error_of({.status = by_signal(SIGSEGV)}, kLimits).detail == "killed by SIGSEGV");
  CHECK(error_of({.status = by_signal(SIGSYS)}, kLimits).detail ==
        "killed by SIGSYS: a system call that the sandbox forbids");
  CHECK(error_of({.out_of_memory = true}, kLimits).detail == "used more than 4096 MiB");
}
