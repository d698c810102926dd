// assay-launcher performs launch plans on one device. It is trusted host code. The supervisor
// decides which plans one process performs: only the plans of one graded submission, of one run, or
// of oracles (sandbox/pool/launcher_pool.h).
//
//   assay-launcher --socket-fd N --device cuda:0 [--driver DRIVER] [--isolation ISOLATION]
//                  [--counters NCU | --rocprof ROCPROFV3 --pass N |
//                   --sanitizer COMPUTE_SANITIZER --tool TOOL]
//   assay-launcher --probe [--driver DRIVER]
//
// The first form serves frames on descriptor N until the end of the stream. With --counters, the
// launcher serves frames inside Nsight Compute, which writes its report to standard output at the
// end. With --rocprof, the launcher serves frames inside AMD's rocprofv3, and prints its report.
// With --sanitizer, the launcher serves frames inside Compute Sanitizer, and then sends the
// sanitizer's report in a last frame. The second form prints one line of JSON about the devices.
// DRIVER is cuda, hip, emulated, fake, fake-sick or fake-full; ISOLATION is strict or best_effort;
// TOOL is memcheck, racecheck, initcheck or synccheck.
//
// Exit status: 0 after serving to the end of the stream, or after finding devices; 1 if the peer
// broke the protocol or the device failed; 2 for wrong arguments; 3 if --probe found no device.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/stderr_line.h"
#include "sandbox/jail/amd_nodes.h"
#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/jail/launch_jail.h"
#include "sandbox/launcher/driver/cuda_api.h"
#include "sandbox/launcher/driver/emulated_driver.h"
#include "sandbox/launcher/driver/fake_driver.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/driver/hip_api.h"
#include "sandbox/launcher/driver/hip_rtc.h"
#include "sandbox/launcher/driver/open_driver.h"
#include "sandbox/launcher/process/arguments.h"
#include "sandbox/launcher/process/ncu.h"
#include "sandbox/launcher/process/rocprof.h"
#include "sandbox/launcher/process/sanitizer.h"
#include "sandbox/launcher/process/serve.h"
#include "sandbox/wire/frame.h"
#include "sandbox/wire/launch_reply.h"

namespace {

using namespace assay;           // NOLINT: this is a main file
using namespace assay::sandbox;  // NOLINT

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kNoDevice = 3;
// The number of bytes that the driver fake-full leaves free. They are enough for check_health().
constexpr std::uint64_t kLeftOfFullBytes = 1 << 20;
constexpr const char* kUsageText =
    "usage: assay-launcher --socket-fd N --device I|cuda:I|hip:I [--driver "
    "cuda|hip|emulated|fake|fake-sick|fake-full] [--isolation strict|best_effort] [--counters NCU "
    "| --rocprof ROCPROFV3 --pass N | "
    "--sanitizer COMPUTE_SANITIZER --tool memcheck|racecheck|initcheck|synccheck]\n       "
    "assay-launcher --probe "
    "[--driver cuda|hip|emulated|fake|fake-sick|fake-full]";

int print_error(const std::string& message) {
  stderr_line("assay-launcher: " + message);
  return kFailed;
}

Result<std::vector<DeviceFacts>> list_devices(const std::string& driver) {
  if (driver == "cuda") return list_cuda_devices();
  if (driver == "hip") return list_hip_devices();
  return std::vector<DeviceFacts>{FakeDriver().facts()};
}

int probe(const LauncherArguments& arguments) {
  const Result<std::vector<DeviceFacts>> devices = list_devices(arguments.driver);
  LauncherProbe found;
  if (devices)
    found.devices = *devices;
  else
    found.reason = devices.error().message;
  std::printf("%s\n", to_line(found).c_str());
  return devices ? kOk : kNoDevice;
}

/// Returns the existing device files that a driver opens for one GPU.
std::vector<std::string> device_files(const LauncherArguments& arguments, const std::string& node) {
  if (arguments.driver == "hip") return amd_device_files();
  std::vector<std::string> files;
  if (arguments.driver != "cuda") return files;
  for (const std::string& path :
       {std::string("/dev/nvidiactl"), std::string("/dev/nvidia-uvm"), node}) {
    if (::access(path.c_str(), F_OK) == 0) files.push_back(path);
  }
  return files;
}

std::string own_path() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

/// Returns true if this launcher starts a tool, which starts the launcher that serves.
bool has_tool(const LauncherArguments& arguments) {
  return !arguments.ncu.empty() || !arguments.rocprof.empty() || !arguments.sanitizer.empty();
}

std::vector<std::string> tool_folders(const LauncherArguments& arguments) {
  if (!arguments.ncu.empty()) return ncu_folders(arguments.ncu);
  if (!arguments.rocprof.empty()) return rocprof_folders(arguments.rocprof);
  return sanitizer_folders(arguments.sanitizer);
}

Result<std::vector<LayerReport>> confine(const LauncherArguments& arguments,
                                         const std::string& node, int emulator) {
  if (::fcntl(arguments.socket, F_GETFD) < 0)
    return fail_errno("--socket-fd " + std::to_string(arguments.socket));
  const bool in_tool = has_tool(arguments);
  if (::fcntl(arguments.socket, F_SETFD, in_tool ? 0 : FD_CLOEXEC) < 0)
    return fail_errno("fcntl F_SETFD");
  // If `confined` is set, a tool has started this launcher inside the jail that a
  // first launcher built. The first launcher reports the jail's isolation layers. This launcher
  // does not call die_with_parent(), because the tools may end the thread that started
  // this launcher early. After die_with_parent(), the launcher would end with that thread.
  if (arguments.confined) return std::vector<LayerReport>{};
  if (Status bound = die_with_parent(); !bound) return fail(bound.error());
  LaunchJail jail{.strict = arguments.strict,
                  .devices = device_files(arguments, node),
                  .libraries = {},
                  .keep_fd = arguments.socket,
                  .emulator_fd = emulator,
                  .profile = in_tool};
  if (jail.profile) {
    jail.libraries = tool_folders(arguments);
    jail.libraries.push_back(own_path().substr(0, own_path().rfind('/')));
  }
  if (arguments.driver == "cuda") {
    // The library is loaded outside of the jail, where its folder is visible. It is initialised
    // inside the jail.
    if (Result<const cuda::CudaApi*> api = cuda::open_cuda_api(); !api) return fail(api.error());
    jail.libraries.push_back(cuda::library_folder());
  }
  if (arguments.driver == "hip") {
    if (Result<const hip::HipApi*> api = hip::open_hip_api(); !api) return fail(api.error());
    jail.libraries.push_back(hip::library_folder());
    if (Status rtc = hip::open_hip_rtc(); !rtc) return fail(rtc.error());
  }
  return enter_launch_jail(jail);
}

/// Returns the device file of the GPU. Returns an empty string for a driver other than cuda.
Result<std::string> node_of(const LauncherArguments& arguments) {
  return arguments.driver == "cuda" ? gpu_node(arguments.device) : std::string();
}

/// Makes the CUDA driver number the GPUs in the same order as gpu_ordinal(). Must be called before
/// the first thread starts.
Status count_by_address(const LauncherArguments& arguments) {
  // HIP obeys CUDA_VISIBLE_DEVICES too. The judge and the launcher number AMD's GPUs in the same
  // way only if both keep the variable.
  if (arguments.driver == "hip") return {};
  if (::unsetenv(kVisibleDevices) != 0 || ::setenv(kDeviceOrder, kByPciAddress, 1) != 0)
    return fail_errno("setenv");
  return {};
}

LaunchResult<std::unique_ptr<GpuDriver>> open_driver(const LauncherArguments& arguments,
                                                     EmulatorProcess emulator) {
  if (arguments.driver == kEmulatedDriver) return make_emulated_driver(std::move(emulator));
  if (arguments.driver == "cuda") return open_cuda_driver(arguments.device);
  if (arguments.driver == "hip") return open_hip_driver(arguments.device);
  auto fake = std::make_unique<FakeDriver>();
  add_fake_kernels(*fake);
  if (arguments.driver == kSickDriver) fake->lose_memory();
  if (arguments.driver == kFullDriver) fake->leave_memory(kLeftOfFullBytes);
  return fake;
}

/// Returns the command line arguments for the launcher that a tool starts inside the
/// jail.
std::vector<std::string> again(const LauncherArguments& arguments) {
  std::vector<std::string> words = {"--socket-fd", std::to_string(arguments.socket),
                                    "--device",    std::to_string(arguments.device),
                                    "--driver",    arguments.driver,
                                    "--confined"};
  if (arguments.tool)
    words.insert(words.end(), {"--tool", std::string(to_string(*arguments.tool))});
  return words;
}

/// Runs a launcher under the sanitizer and sends the report.
int sanitize(const LauncherArguments& arguments, const std::string& launcher) {
  Result<Sanitized> ended = run_sanitizer({.sanitizer = arguments.sanitizer,
                                           .tool = *arguments.tool,
                                           .launcher = launcher,
                                           .arguments = again(arguments)});
  if (!ended) return print_error(ended.error().message);
  if (Status sent =
          send_frame(arguments.socket, to_header(*ended), ended->report, {}, Deadline::never());
      !sent)
    return print_error(sent.error().message);
  return kOk;
}

int run(LauncherArguments arguments) {
  const std::string launcher = own_path();
  const Result<std::string> node = node_of(arguments);
  if (!node) return print_error(node.error().message);
  if (Status counted = count_by_address(arguments); !counted)
    return print_error(counted.error().message);
  EmulatorProcess emulator;
  if (arguments.driver == kEmulatedDriver) {
    // The emulator is started outside of the jail, in which no program can be started.
    Result<EmulatorProcess> started = start_emulator_of_environment();
    if (!started) return print_error(started.error().message);
    emulator = std::move(*started);
  }
  const Result<std::vector<LayerReport>> layers = confine(arguments, *node, emulator.socket.get());
  if (!layers) return print_error(layers.error().message);
  if (!node->empty()) {
    // Inside the jail only this GPU is visible, so its number can differ from the number outside.
    const Result<int> ordinal = gpu_ordinal(*node);
    if (!ordinal) return print_error(ordinal.error().message);
    arguments.device = *ordinal;
  }
  if (has_tool(arguments)) {
    // The launcher that the tool starts does not report the isolation layers of the jail, so
    // missing layers are printed here.
    for (const LayerReport& layer : *layers) {
      if (!layer.active)
        print_error("the jail of the tool lacks " + layer.name + ": " + layer.detail);
    }
    if (!arguments.sanitizer.empty()) return sanitize(arguments, launcher);
    if (!arguments.rocprof.empty()) {
      const Status printed = print_counters({.rocprof = arguments.rocprof,
                                             .pass = static_cast<std::size_t>(arguments.pass),
                                             .launcher = launcher,
                                             .arguments = again(arguments)});
      return printed ? kOk : print_error(printed.error().message);
    }
    return print_error(become_ncu(arguments.ncu, launcher, again(arguments)).error().message);
  }
  LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_driver(arguments, std::move(emulator));
  if (!gpu) return print_error(gpu.error().message);
  if (LaunchStatus well = check_health(**gpu); !well) return print_error(well.error().message);
  LayerList all(arguments.strict);
  for (const LayerReport& layer : *layers) all.add(layer);
  // The launcher that a tool starts reports no layers.
  if (!arguments.confined) all.add("launch_host_memory", check_host_memory((*gpu)->facts()));
  if (Status complete = all.status(); !complete) return print_error(complete.error().message);
  const SystemClock clock;
  if (Status served = serve(arguments.socket, **gpu, all.layers(), clock, arguments.tool); !served)
    return print_error(served.error().message);
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  const Result<LauncherArguments> parsed = parse_launcher_arguments({argv + 1, argv + argc});
  if (!parsed) {
    stderr_line("assay-launcher: " + parsed.error().message + "\n" + kUsageText);
    return kUsage;
  }
  const LauncherArguments& arguments = *parsed;
  if (arguments.probe) return probe(arguments);
  int status = kFailed;
  try {
    status = run(arguments);
  } catch (const std::exception& error) {
    // A signal would say that the driver crashed.
    print_error(error.what());
  }
  if (arguments.confined) return status;  // the tool must see a normal exit
  // _exit skips the exit handlers. The driver's handlers take long, and the context has already
  // been released.
  std::fflush(nullptr);
  ::_exit(status);
}
