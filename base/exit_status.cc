#include "base/exit_status.h"

#include <sys/wait.h>

#include <cstring>

namespace assay {

ExitStatus exit_status_of(const siginfo_t& info) {
  const auto how = info.si_code == CLD_EXITED   ? ExitStatus::How::exited
                   : info.si_code == CLD_DUMPED ? ExitStatus::How::dumped
                                                : ExitStatus::How::killed;
  return ExitStatus{how, info.si_status};
}

std::string describe(const ExitStatus& status) {
  if (!status.by_signal()) return "exit status " + std::to_string(status.value);
  return "killed by " + signal_name(status.value);
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace assay
