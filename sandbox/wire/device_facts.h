// DeviceFacts contains the properties of a GPU that its driver reports. The launcher reads the
// properties and sends them in the message `ready` and in the output of `--probe`
// (sandbox/wire/launch_reply.h). From these properties, the supervisor computes the minimum time of
// a case (physical floor) and the peak rates of a profile.
//
//   DeviceFacts facts;
//   facts.name = "NVIDIA H200";
//   facts.target = "cuda:90";
//
// A plain struct. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace assay::sandbox {

struct DeviceFacts {
  std::string name = {};    // "NVIDIA H200"
  std::string target = {};  // "cuda:90"
  std::string cc = {};      // compute capability: "9.0"
  // The versions of the driver, such as "580.159.03 (CUDA 13.0)": the version of the kernel module,
  // if it can be read, and the version of the driver's interface.
  std::string driver = {};
  std::int64_t sms = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t clock_khz = 0;  // peak SM clock
  // The theoretical bandwidth: 2 x memory clock x bus width. It is not measured.
  std::int64_t bandwidth_bytes_per_s = 0;
  // The maximum shared memory of one block. Only the launcher uses it, so no message contains it.
  std::int64_t shared_bytes_per_block = 0;
  // Whether device code can access all memory of the process on the host. Only the launcher uses
  // it, so no message contains it.
  bool reaches_host_memory = false;
};

}  // namespace assay::sandbox
