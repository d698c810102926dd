// Tests which limits an error of a candidate reports, and which errors are worth a second attempt.
#include "sandbox/record/candidate_error.h"

#include <cerrno>
#include <string>

#include "sandbox/job/job_execution.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

CandidateError raised(const char* exception, std::optional<std::int64_t> number = std::nullopt,
                      const char* message = "") {
  CandidateError error;
  error.diagnostic.exception = exception;
  error.diagnostic.message = message;
  error.system_error = number;
  return error;
}

std::string limit_of(const CandidateError& error) {
  return std::string(to_string(limit_behind(error)));
}

}  // namespace

TEST_CASE("the number of a failed system call names the limit, and its message does not") {
  CHECK(limit_of(raised("OSError", ENOSPC)) == "disk_limit");
  CHECK(limit_of(raised("BlockingIOError", EAGAIN)) == "process_limit");
  CHECK(limit_of(raised("OSError", ENOMEM)) == "memory_limit");
  CHECK(limit_of(raised("MemoryError")) == "memory_limit");
  CHECK(limit_of(raised("RuntimeError", std::nullopt, "can't start new thread")) ==
        "process_limit");
  CHECK(limit_of(raised("ValueError", std::nullopt, "[Errno 28] No space left on device")) ==
        "other_exception");
}

TEST_CASE("an error for lack of a resource is worth a second attempt, and no other error is") {
  for (const int number : {EMFILE, ENFILE, ENOMEM, ENOSPC, EAGAIN, EIO})
    CHECK(is_shortage(raised("OSError", number)));
  CHECK(is_shortage(raised("MemoryError")));
  CHECK_FALSE(is_shortage(raised("FileNotFoundError", ENOENT)));
  CHECK_FALSE(is_shortage(raised("PermissionError", EPERM)));
  CHECK_FALSE(is_shortage(raised("ValueError", std::nullopt, "[Errno 24] Too many open files")));
}

TEST_CASE("a shortage in an auxiliary run belongs to the verdict of the job") {
  const Job job;
  JobMonitor monitor;
  JobExecution run(job, monitor), other(job, monitor);
  run.auxiliary().tell_shortage();
  CHECK(run.finish().reports_shortage);
  CHECK_FALSE(other.finish().reports_shortage);
}

TEST_CASE("a process that has seen hidden cases gets no second attempt by a reported shortage") {
  const Job job;
  JobMonitor monitor;
  JobExecution run(job, monitor);
  run.tell_hidden();
  run.tell_shortage();
  run.auxiliary().tell_shortage();
  CHECK_FALSE(run.finish().reports_shortage);
}

TEST_CASE("a lack of GPU memory is a limit, whoever of torch and its libraries notices it") {
  const auto kind_of = [](const char* exception, const char* message) {
    const CandidateError error = raised(exception, std::nullopt, message);
    return std::string(to_string(device_error_behind(ErrorKind::runtime_error, error)));
  };
  CHECK(kind_of("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB.") ==
        "gpu_memory_limit");
  CHECK(kind_of("AcceleratorError", "CUDA error: out of memory\nSearch for ...") ==
        "gpu_memory_limit");
  CHECK(kind_of("AcceleratorError", "CUDA error: an illegal memory access was encountered") ==
        "gpu_fault");
  CHECK(kind_of("RuntimeError", "out of memory") == "runtime_error");
}

TEST_CASE("the number of a GPU's error decides, and not the words beside it") {
  const auto kind_of = [](const char* exception, std::optional<std::int64_t> number,
                          const char* message = "") {
    CandidateError error = raised(exception, std::nullopt, message);
    error.device_error = number;
    return std::string(to_string(device_error_behind(ErrorKind::runtime_error, error)));
  };
  CHECK(kind_of("AcceleratorError", 2) == "gpu_memory_limit");
  CHECK(kind_of("AcceleratorError", 700) == "gpu_fault");
  CHECK(kind_of("AcceleratorError", 719, "CUDA error: out of memory") == "gpu_fault");
  CHECK(kind_of("AcceleratorError", 1, "CUDA error: out of memory") == "runtime_error");
  CHECK(kind_of("OutOfMemoryError", std::nullopt) == "gpu_memory_limit");
  CHECK(kind_of("HTTPError", 2) == "runtime_error");
}
