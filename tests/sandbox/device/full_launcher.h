// Provides launchers that find the memory of the GPU full at chosen launches, as if other processes
// had taken it in the meantime. A Python process stands between the server and the real launcher.
// It passes on all frames, but answers the chosen launches itself.
//
//   FullLauncher full("name", FullLauncher::kRanked, 1);
//   SandboxConfig config = real_config();
//   config.launcher = full.program();
//   ...
//   CHECK(full.launches() == 2);
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/sandbox/device/device_fixture.h"

namespace assay::sandbox::testing {

class FullLauncher {
 public:
  /// The launch of the alternatives that were timed, whose outputs are only checked.
  static constexpr const char* kRanked =
      "not request['time'] and not request['ablated'] and request['chosen']";
  /// A timed launch of a submission. (An oracle gets no new inputs.)
  static constexpr const char* kTimed = "request['time'] and request['stage_next_inputs']";

  /// A timed launch of an oracle.
  static constexpr const char* kOracle = "request['time'] and not request['stage_next_inputs']";

  /// `which` is a condition on the header of the message `launch`, in Python. The first `times` of
  /// these launches fail, in whichever launchers they are.
  FullLauncher(const std::string& name, const std::string& which, int times)
      : folder_(std::filesystem::path(real_config().state_dir) / ("full_launcher_" + name)) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    const SandboxConfig config = real_config();
    std::ofstream(program()) << "#!" << config.python << "\nLAUNCHER = '" << config.launcher
                             << "'\nHARNESS = '" << config.harness_dir << "'\nLOG = '"
                             << log().string() << "'\nTIMES = " << times
                             << "\n\n\ndef is_chosen(request):\n    return " << which << "\n"
                             << kRelay;
    std::filesystem::permissions(program(), std::filesystem::perms::owner_all);
  }
  std::string program() const { return folder_ / "launcher.py"; }
  /// Returns the number of chosen launches so far, failed or not.
  int launches() const {
    std::ifstream file(log());
    return static_cast<int>(std::distance(std::istream_iterator<std::string>(file), {}));
  }

 private:
  static constexpr const char* kRelay = R"(
import os
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(HARNESS))
from harness.wire.frames import Channel


def number_of_this():
    """Returns how many chosen launches there were before this one, and counts it."""
    fd = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, b"x\n")
    return os.lseek(fd, 0, os.SEEK_CUR) // 2 - 1


def answers(launcher, server):
    for frame in launcher:
        server.send(frame.header, frame.payload, frame.fds)
        frame.close()
    os._exit(0)


arguments = sys.argv[1:]
if "--socket-fd" not in arguments:
    os.execv(LAUNCHER, [LAUNCHER, *arguments])
at = arguments.index("--socket-fd") + 1
server = Channel.from_fd(int(arguments[at]))
ours, theirs = socket.socketpair()
arguments[at] = str(theirs.fileno())
subprocess.Popen([LAUNCHER, *arguments], pass_fds=[theirs.fileno()])
theirs.close()
launcher = Channel(ours)
threading.Thread(target=answers, args=(launcher, server), daemon=True).start()
for frame in server:
    request = frame.header
    if request["type"] == "launch" and is_chosen(request) and number_of_this() < TIMES:
        told = {"case": request["case"], "kind": "device_full", "message": "others have the memory"}
        server.send({"type": "launch_error", **told})
    else:
        launcher.send(request, frame.payload, frame.fds)
    frame.close()
)";

  std::filesystem::path log() const { return folder_ / "launches"; }

  std::filesystem::path folder_;
};

}  // namespace assay::sandbox::testing
