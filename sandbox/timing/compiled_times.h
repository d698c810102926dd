// CompiledTimes contains the times of an operator's reference that torch.compile has compiled.
// `assay operators compiled` measures these times and writes them into the state folder. A verdict
// shows them beside the submission's times. No score depends on them.
//
//   const std::string path = compiled_times_path(state_dir, "NVIDIA H200", "relu", revision);
//   Status written = write_compiled_times(path, {.torch = "2.11.0", .cases = times});
//   add_compiled_times(verdict, state_dir);  // reads the file of the verdict's operator
//
// The times are not measured in the same series as a submission. The reason is that compiling takes
// seconds to minutes, and that a process that compiles would disturb the submission's times. There
// is one file for each device, operator and revision of the operator's files. So an operator has no
// times after a change of its files. The functions are thread-safe, because a file is replaced as a
// whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

struct CompiledTimes {
  std::string torch;  // the version of PyTorch that compiled
  std::vector<CompiledTime> cases;
};

/// Returns the path of the file for an operator on a device, for example "NVIDIA H200".
std::string compiled_times_path(const std::string& state_dir, const std::string& device_name,
                                const std::string& operator_name, const std::string& revision);

/// Returns the times in a file. Returns nothing if there is no file, or if its form is wrong.
std::optional<CompiledTimes> read_compiled_times(const std::string& path);

/// Writes the file. Creates its folder if the folder is missing. Errors: io.
Status write_compiled_times(const std::string& path, const CompiledTimes& times);

/// Sets the time, or the reason why there is none, in each record that has a latency. Does nothing
/// if the times were not measured, or were measured with another version of PyTorch.
void add_compiled_times(Verdict& verdict, const std::string& state_dir);

}  // namespace assay::sandbox
