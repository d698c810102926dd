// Provides what the tests of the plan tier share: an operator that copies its input, and a GPU
// whose launcher runs the fake driver. The fake driver performs memory operations, and a few
// kernels that it knows by name.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "sandbox/device/cuda.h"
#include "tests/sandbox/device/device_fixture.h"

namespace assay::sandbox::testing {

inline constexpr const char* kSpec = R"(name = "plain_copy"
split = "standard"
family = "elementwise"
dialect = "triton"
difficulty = 1
summary = "Copy"
description = "y = x"
entry = "plain_copy"
signature = "plain_copy(x: Tensor) -> Tensor"

[[arguments]]
name = "x"
type = "tensor"
dtype = "case"
shape = ["n"]
role = "input"
description = "contiguous"

[[outputs]]
name = "y"
dtype = "case"
shape = ["n"]
max_abs_error = 0.0
scale = 1
)";

inline constexpr const char* kReference = R"(from harness.operator import Case, Cost, Rng


def inputs(case, rng):
    return {"x": rng.normal((case.axes["n"],), case.dtype)}


def reference(x):
    return x.clone()


def cost(case):
    return Cost(bytes=2 * case.axes["n"] * case.dtype.itemsize, flops=0)
)";

/// The imports at the beginning of every submission to the operator. Every submission must also
/// launch a kernel, because a plan without kernels is `unattributed`.
inline const std::string kImports = "import torch, triton\n";
inline std::string copying(const std::string& kernel) {
  return kImports + "@triton.jit\ndef " + kernel +
         "(x, y, n):\n    pass\ndef plain_copy(x):\n    y = torch.empty_like(x)\n    " + kernel +
         "[(1,)](x, y, x.numel())\n    return y\n";
}
inline const std::string kKernel = kImports + "@triton.jit\ndef fake_nothing(p):\n    pass\n";
inline const std::string kCopy = copying("fake_copy");
inline const std::string kClone =
    kKernel + "def plain_copy(x):\n    y = x.clone()\n    fake_nothing[(1,)](y)\n    return y\n";

/// Returns a submission that copies its input with an autotuned kernel. The autotuner has two
/// configurations. The first configuration is slow: before its kernel it fills the output many
/// times. `hook` runs before the kernel of the second configuration.
inline std::string tuned(const std::string& hook) {
  return kImports + R"(
@triton.jit
def fake_copy(x, y, n, B: triton.language.constexpr):
    pass

@triton.jit
def fake_fault():
    pass

def slow(args):
    for _ in range(40):
        args["y"].zero_()

def fast(args):
    )" + hook +
         R"(

configs = [triton.Config({"B": 64}, pre_hook=slow), triton.Config({"B": 128}, pre_hook=fast)]
kernel = triton.autotune(configs, key=["n"])(fake_copy)

def plain_copy(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel())
    return y
)";
}

inline std::string operator_folder() {
  static const std::string folder = [] {
    const std::filesystem::path path =
        std::filesystem::path(ASSAY_BINARY_DIR) / "test-operators/plain_copy";
    std::filesystem::create_directories(path);
    std::string spec = kSpec;
    for (const char* visibility : {"public", "hidden"}) {
      for (const char* size : {"64", "1000", "4096"}) {
        spec += "\n[[cases]]\nid = \"" + std::string(visibility) + size + "\"\nvisibility = \"" +
                visibility + "\"\ninterpreter = true\ndtype = \"float32\"\naxes = { n = " + size +
                " }\ndistribution = \"normal\"\n";
      }
    }
    std::ofstream(path / "spec.toml") << spec;
    std::ofstream(path / "reference.py") << kReference;
    std::ofstream(path / "oracle.py") << kCopy;
    return path.string();
  }();
  return folder;
}

/// Returns a GPU that records each submission with `recorders` candidates in parallel.
inline Device& gpu(int recorders) {
  static std::map<int, std::unique_ptr<Device>> devices;
  std::unique_ptr<Device>& device = devices[recorders];
  if (!device) {
    SandboxConfig config = real_config();
    config.recorders = recorders;
    Result<std::unique_ptr<Device>> made =
        make_cuda_device(config, {.index = 0, .driver = "fake", .judge_device = "cpu"});
    if (!made) throw std::runtime_error(made.error().message);
    device = std::move(*made);
  }
  return *device;
}

inline Job copy_job(JobKind kind, const std::string& source) {
  Job job = vector_add(kind, source);
  job.operator_name = "plain_copy";
  job.operator_dir = operator_folder();
  job.entry = "plain_copy";
  job.cases = {{.id = "public64",
                .hidden = false,
                .interpreter = true,
                .axes = {{"n", 64}},
                .dtype = "float32",
                .distribution = "normal"},
               {.id = "hidden1000",
                .hidden = true,
                .interpreter = true,
                .axes = {{"n", 1000}},
                .dtype = "float32",
                .distribution = "normal"}};
  return job;
}

/// Copies the operator to a new folder. The copy's inputs() also runs `code`.
inline std::filesystem::path copy_operator(const std::string& name, const std::string& code) {
  const std::filesystem::path folder =
      std::filesystem::path(ASSAY_BINARY_DIR) / "test-operators" / name;
  std::filesystem::create_directories(folder);
  for (const char* file : {"spec.toml", "oracle.py"})
    std::filesystem::copy_file(std::filesystem::path(operator_folder()) / file, folder / file,
                               std::filesystem::copy_options::overwrite_existing);
  std::string reference = kReference;
  reference.insert(reference.find("    return {\"x\""), code);
  std::ofstream(folder / "reference.py") << reference;
  return folder;
}

inline Verdict run(const Job& job, int recorders = 1) {
  JobMonitor monitor;
  return gpu(recorders).execute(job, monitor);
}

}  // namespace assay::sandbox::testing
