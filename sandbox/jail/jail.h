// The jail: what stands between a submission and the machine. jail.cc has the two ordered lists
// that are the security argument; each mechanism has a file of its own here.
//
//   template jail   built once by the program assay-jail, which then becomes the zygote: no
//   network, no files but Python's, no devices job jail        entered by every candidate right
//   after its fork: private memory file systems, own user, no capabilities, no system calls
//                   that a submission does not need
//
// What also belongs to it but is done by the supervisor: cgroups (cgroup.h), wall limits and
// SIGKILL by pidfd (pool/). Both calls change the calling process for good. Not for a process with
// threads.
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
  std::vector<std::pair<std::string, std::string>>
      environment;  // added to the fixed one (environment.h)
  std::vector<std::string> command;
};

/// Builds the template jail around this process and runs the command in it, as process 1 of a pid
/// namespace where there is one. Returns the exit status to leave with, once the command has ended;
/// an error when the jail could not be built.
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

/// Enters the job jail. Returns its layers; an error under strict isolation when one is missing:
/// the caller must end.
Result<std::vector<LayerReport>> enter_job_jail(const JobJail& config);

/// What enter_job_jail() needs that is better made before a fork. Called by it otherwise.
Status prepare_job_jail();

}  // namespace assay::sandbox
