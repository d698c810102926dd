// The jail confines a submission. It consists of isolation layers. jail.cc contains two ordered
// lists of layers: to judge whether the jail is secure, read these lists. The other files of this
// folder implement the layers.
//
// - Template jail: assay-jail builds it once and then runs the zygote in it. Its only network
//   interface is its own loopback interface. Its only files are the system's folders and the files
//   in TemplateJail. Its only devices are null, zero, the random devices and those in TemplateJail.
//   Its environment variables come from a fixed list and from TemplateJail, so that no variable of
//   the server (a key, a token, a path) reaches the jail.
// - Job jail: every candidate enters it right after its fork. There the candidate has private
//   memory file systems, a separate user id and no capabilities. It cannot make system calls that
//   no submission needs.
//
// The supervisor adds cgroups (cgroup.h), wall limits and SIGKILL by pidfd (sandbox/pool). The
// functions run_in_template_jail() and enter_job_jail() change the calling process permanently. The
// process must have only one thread.
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

inline constexpr int kMaxSlots = 1024;

struct TemplateJail {
  bool strict = false;             // if true, a missing isolation layer is an error
  int slots = 64;                  // number of user ids to map, one for each slot
  std::vector<std::string> binds;  // files and folders that are visible read-only at the same path
  // Path of the interpreter; the folders of its installation become visible too.
  std::string python;
  std::vector<std::string> devices;  // device files of a GPU, for candidates of the host tier
  int keep_fd = -1;                  // the zygote's control socket
  // Variables that are added to the fixed list. A variable of the same name is replaced.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> command;
};

/// Builds the template jail around this process and runs the command in it. If the kernel allows a
/// pid namespace, the command becomes process 1 of a new pid namespace. Returns the command's exit
/// status after the command has ended. Returns an error if the calling process fails before it
/// waits for the command. Returns 127 if the jail's first process could not finish the jail or
/// execute the command.
Result<int> run_in_template_jail(const TemplateJail& config);

struct JobJail {
  bool strict = false;
  int slot = 0;
  int job_fd = -1;
  std::vector<std::string> devices;  // device files of the template jail that the job may use
  std::int64_t tmp_bytes = 256LL << 20;
  std::int64_t tmp_inodes = 16'384;
  ResourceLimits limits;
};

/// Enters the job jail and returns its isolation layers. Under strict isolation a missing layer is
/// an error. After an error the caller must exit.
Result<std::vector<LayerReport>> enter_job_jail(const JobJail& config);

/// Builds the system call filter for enter_job_jail(). Call it before the forks, so that the filter
/// is built only once. Otherwise each forked process builds its own filter.
Status prepare_job_jail();

}  // namespace assay::sandbox
