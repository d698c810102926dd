// check_plan checks a decoded plan before anything is allocated or loaded. It checks every index,
// range, size and name against the plan itself, the arguments of the case, and the device. Replay
// relies on these checks and does not repeat them.
//
//   PlanRules rules{.target = "cuda:90", .inputs = {{"x", 4096}}, .output_bytes = 4096};
//   Status status = check_plan(plan, rules);
//
// An example of an error is "operation 2: fill: 16 bytes from 8 on are outside buffer 1 (scratch,
// 16 bytes)". check_elf checks one device binary. check_plan calls check_elf for each binary of the
// plan. Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/plan/plan.h"

namespace assay::sandbox {

inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxBlocksPerCluster = 16;  // the non-portable maximum
inline constexpr std::uint32_t kMaxScratchAlignment = 4096;

struct PlanInput {
  std::string name;
  std::uint64_t bytes = 0;
};

struct PlanRules {
  std::string target;              // the target of the device: "cuda:90"
  std::vector<PlanInput> inputs;   // the tensor arguments of the case
  std::uint64_t output_bytes = 0;  // size of the output memory
};

/// Checks a plan. Errors: `invalid_argument` if a check fails; the message names the position in
/// the plan, the value and the valid values.
Status check_plan(const Plan& plan, const PlanRules& rules);

/// Returns the number of thread blocks of a launch. The size of a global scratch parameter is its
/// bytes per block multiplied by this number.
std::uint64_t block_count(const KernelOp& op);

/// Checks that the tables of a device binary are inside the binary's bytes. The GPU driver receives
/// a pointer without a size and follows the offsets in the file. So a truncated or forged image
/// would make the driver read other memory. The driver itself checks the rest of the contents. Only
/// 64-bit little-endian ELF files are accepted (cubin, hsaco). Also calls check_amd_kernels().
/// Errors: `invalid_argument` if the check fails.
Status check_elf(std::string_view image);

/// Calls check_amd_metadata() for all metadata of an AMD binary, refuses metadata of other formats,
/// and calls check_amd_descriptors(). Other binaries pass. The tables of the image must be inside
/// its bytes. Errors: `invalid_argument`.
Status check_amd_kernels(std::string_view image);
inline constexpr std::uint16_t kAmdMachine = 224;      // EM_AMDGPU
inline constexpr std::uint32_t kAmdMetadataNote = 32;  // NT_AMDGPU_METADATA

/// What the metadata of an AMD binary say about a kernel.
struct AmdKernel {
  std::uint64_t group_bytes = 0, private_bytes = 0, argument_bytes = 0;

  bool operator==(const AmdKernel&) const = default;
};

/// The kernels of an AMD binary, by the symbols of their descriptors.
using AmdKernels = std::map<std::string, AmdKernel>;

/// The maximum size of a kernel's arguments on an AMD GPU, with those that HIP adds.
inline constexpr std::uint64_t kMostAmdArgumentBytes = 32 << 10;
/// Checks what the metadata of an AMD binary ask of HIP's runtime, which runs in the launcher and
/// believes them. Each kernel must be of the kind `normal`: the runtime runs kernels of the kinds
/// `init` and `fini` when it loads and unloads the binary. The launcher loads a binary with
/// variables again before each sample, so such a kernel could compute the outputs untimed. The
/// arguments must be of kinds that the launcher passes or that only describe the launch, and their
/// places must be inside the arguments' memory. Adds the kernels to `kernels`, from which the same
/// kernel may not differ. Errors: `invalid_argument`.
Status check_amd_metadata(std::string_view metadata, AmdKernels& kernels);

/// Checks what ROCm's loader does with an AMD binary in the launcher: the segments that it copies,
/// the relocations that it performs, and the symbols by which it finds descriptors. Each kernel in
/// the metadata has one descriptor in each table of symbols. Descriptor and metadata agree, because
/// limits count the sizes in the metadata. A descriptor may not ask for addresses of the runtime's
/// memory. Errors: `invalid_argument`.
Status check_amd_descriptors(std::string_view image, const AmdKernels& kernels);

/// Returns the size of an image's writable variables in device memory, in bytes. Such variables
/// keep their values from launch to launch. Shared memory is not included. The image must have
/// passed check_elf().
std::uint64_t writable_globals(std::string_view image);

/// Returns true if a cubin has or needs functions that are no kernels. Such a function can call
/// itself, so the attributes of a kernel that calls it do not tell the size of its stack. The image
/// must have passed check_elf().
bool has_device_functions(std::string_view image);

}  // namespace assay::sandbox
