// ExitStatus says how a child process ended. A program that reports a dead child can so name its
// exit status or the signal.
//
//   siginfo_t info{};
//   if (::waitid(P_PID, child, &info, WEXITED) == 0)
//     error = "the server ended: " + describe(exit_status_of(info));
//
// Plain data and functions without state; thread-safe.
#pragma once

#include <csignal>
#include <string>

namespace assay {

/// The way in which a process ended, as waitid reports it to the parent process.
struct ExitStatus {
  enum class How { exited, killed, dumped } how = How::exited;
  int value = 0;  // the exit status, or the number of the signal

  bool by_signal() const { return how != How::exited; }
};

/// Returns the status that waitid wrote into `info` for a process that has ended.
ExitStatus exit_status_of(const siginfo_t& info);
/// Describes an exit status, for example as "killed by SIGSEGV" or "exit status 3".
std::string describe(const ExitStatus& status);
/// Returns the name of a signal, such as "SIGSEGV", or "signal 99" for a signal without a name.
std::string signal_name(int signal);

}  // namespace assay
