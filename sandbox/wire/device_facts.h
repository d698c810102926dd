// DeviceFacts: the figures of a GPU that its driver tells. The launcher reads them, the message
// `ready` and the output of `--probe` carry them (sandbox/wire/launch_reply.h), and the supervisor
// derives the physical floor and the peaks of a profile from them.
//
//   DeviceFacts facts;
//   facts.name = "NVIDIA H200";
//   facts.target = "cuda:90";
//
// A value, thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace assay::sandbox {

struct DeviceFacts {
  std::string name = {};    // "NVIDIA H200"
  std::string target = {};  // "cuda:90"
  std::string cc = {};      // compute capability: "9.0"
  // "580.159.03 (CUDA 13.0)": the version of the kernel module, if it can be read, and that of the
  // driver's interface.
  std::string driver = {};
  std::int64_t sms = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t clock_khz = 0;  // peak SM clock
  // Theoretical: 2 x memory clock x bus width. Not measured.
  std::int64_t bandwidth_bytes_per_s = 0;
  // Shared memory: the maximum for one block. Only the launcher uses it, so no message carries it.
  std::int64_t shared_bytes_per_block = 0;
};

}  // namespace assay::sandbox
