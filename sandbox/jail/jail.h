// The jail confines a submission. jail.cc has the two ordered lists of layers that are the security
// argument; each mechanism has a file of its own in this folder.
//
// - Template jail: assay-jail builds it once and then becomes the zygote. It has no network, no
//   devices and no files but those of Python.
// - Job jail: every candidate enters it right after its fork. It has private memory file systems, a
//   user of its own, no capabilities, and no system calls that a submission does not need.
//
// The supervisor adds cgroups (cgroup.h), wall limits and SIGKILL by pidfd (sandbox/pool). Both
// functions change the calling process for good, and need a process with one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/jail/process_setup.h"

namespace assay::sandbox {

inline constexpr int kMaxSlots = 256;

struct TemplateJail {
  bool strict = false;               // a missing layer is an error, not a report
  int slots = 64;                    // user ids to map, one per slot
  std::vector<std::string> binds;    // shown read-only at the same path
  std::string python;                // the interpreter, whose installation is shown too
  std::vector<std::string> devices;  // device files of a GPU, for candidates of the host tier
  int keep_fd = -1;                  // the zygote's control socket
  // added to the fixed one (environment.h)
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> command;
};

/// Builds the template jail around this process and runs the command in it, as process 1 of a pid
/// namespace where the kernel allows one. Returns the command's exit status after its end, or an
/// error if the jail could not be built.
Result<int> run_in_template_jail(const TemplateJail& config);

struct JobJail {
  bool strict = false;
  int slot = 0;
  int job_fd = -1;
  std::vector<std::string> devices;  // as the template's: these may be used
  std::int64_t tmp_bytes = 256LL << 20;
  std::int64_t tmp_inodes = 16'384;
  ResourceLimits limits;
};

/// Enters the job jail and returns its layers. Under strict isolation a missing layer is an error,
/// and the caller must end.
Result<std::vector<LayerReport>> enter_job_jail(const JobJail& config);

/// Prepares what enter_job_jail() needs, so that it is made once before the forks. enter_job_jail()
/// calls it if the caller did not.
Status prepare_job_jail();

}  // namespace assay::sandbox
