#include "sandbox/record/candidate_error.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace assay::sandbox {
namespace {

constexpr const char* kNoMemory = "MemoryError";  // Python's name of the exception

// The errors of a system call that lacked a resource, or that failed in a disk or a file system.
constexpr std::array<std::int64_t, 8> kShortages = {EMFILE, ENFILE, ENOMEM,  ENOSPC,
                                                    EDQUOT, EAGAIN, ENOBUFS, EIO};

// torch and the module threading raise a plain RuntimeError for these, without a number.
constexpr const char* kNoThread = "can't start new thread";
constexpr const char* kNoTensor = "DefaultCPUAllocator: can't allocate memory";

// torch's exceptions about a GPU. The second one has the number of the driver's error, which is the
// same for CUDA and HIP.
constexpr const char* kNoDeviceMemory = "OutOfMemoryError";
constexpr const char* kDeviceError = "AcceleratorError";
constexpr std::int64_t kOutOfDeviceMemory = 2;
// An illegal address, an assertion in a kernel, a misaligned address, an unspecified failure.
constexpr std::array<std::int64_t, 4> kDeviceFaults = {700, 710, 716, 719};

bool says(const Diagnostic& diagnostic, const char* words) {
  return diagnostic.message.find(words) != std::string::npos;
}

}  // namespace

ErrorKind limit_behind(const CandidateError& error) {
  const Diagnostic& found = error.diagnostic;
  if (error.system_error == ENOSPC) return ErrorKind::disk_limit;
  if (error.system_error == EAGAIN || says(found, kNoThread)) return ErrorKind::process_limit;
  if (error.system_error == ENOMEM || found.exception == kNoMemory || says(found, kNoTensor))
    return ErrorKind::memory_limit;
  return error.kind;
}

bool is_shortage(const CandidateError& error) {
  const Diagnostic& found = error.diagnostic;
  const bool by_number = error.system_error && std::find(kShortages.begin(), kShortages.end(),
                                                         *error.system_error) != kShortages.end();
  return by_number || found.exception == kNoMemory || says(found, kNoThread) ||
         says(found, kNoTensor);
}

ErrorKind device_error_behind(ErrorKind kind, const CandidateError& error) {
  const Diagnostic& diagnostic = error.diagnostic;
  if (diagnostic.exception == kNoDeviceMemory) return ErrorKind::gpu_memory_limit;
  if (diagnostic.exception == kDeviceError && error.device_error) {
    if (*error.device_error == kOutOfDeviceMemory) return ErrorKind::gpu_memory_limit;
    const bool is_fault = std::find(kDeviceFaults.begin(), kDeviceFaults.end(),
                                    *error.device_error) != kDeviceFaults.end();
    return is_fault ? ErrorKind::gpu_fault : kind;
  }
  // torch's allocator says the first text. A library that allocates by itself causes the second.
  if (says(diagnostic, "CUDA out of memory") || says(diagnostic, "CUDA error: out of memory"))
    return ErrorKind::gpu_memory_limit;
  const bool fault =
      says(diagnostic, "illegal memory access") || says(diagnostic, "misaligned address") ||
      says(diagnostic, "device-side assert") || says(diagnostic, "unspecified launch failure");
  return fault && says(diagnostic, "CUDA error") ? ErrorKind::gpu_fault : kind;
}

std::optional<std::int64_t> line_of_source(std::optional<std::int64_t> line,
                                           std::string_view source) {
  // As in Python, a line ends with LF, CR, or CR LF.
  std::int64_t lines = 1 + std::count(source.begin(), source.end(), '\n');
  for (std::size_t at = source.find('\r'); at != std::string_view::npos;
       at = source.find('\r', at + 1)) {
    if (at + 1 == source.size() || source[at + 1] != '\n') ++lines;
  }
  return line && *line >= 1 && *line <= lines ? line : std::nullopt;
}

}  // namespace assay::sandbox
