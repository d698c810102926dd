// The control block that tests/faults/injection.py shares with the processes under test. Its layout
// is part of that file too.
#pragma once

#include <atomic>
#include <cstdint>

namespace assay::faults {

inline constexpr int kMaxCalls = 64;  // the number of functions that can fail

/// A process has one role. Faults are injected into the processes of one role at a time.
enum class Role : std::uint32_t { none = 0, server = 1, judge = 2, launcher = 3 };
inline constexpr int kRoles = 4;

struct Control {
  std::atomic<std::uint32_t> role;   // inject into processes with this role; Role::none: nowhere
  std::atomic<std::uint32_t> call;   // the number of the function, as in kNames
  std::atomic<std::uint32_t> error;  // the errno of the failure
  std::atomic<std::uint32_t> skip;   // the number of calls that succeed first
  std::atomic<std::uint32_t> times;  // the number of calls that fail then
  std::atomic<std::uint32_t> seen;   // calls of this function since the fault was set
  std::atomic<std::uint32_t> fired;  // failures so far
  std::atomic<std::uint32_t> unused;
  std::atomic<std::uint32_t> counts[kRoles]
                                   [kMaxCalls];  // calls by role and function since the start
};

}  // namespace assay::faults
