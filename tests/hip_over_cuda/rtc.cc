// A stand-in for hipRTC (libhiprtc) for tests, beside runtime.cc. It compiles one text: the
// launcher's own kernels (sandbox/launcher/memory/trusted_hip.h). clang compiled this text to PTX
// when this library was built (make_ptx.py), and the CUDA driver assembles the PTX. So the HIP C++
// text runs on an NVIDIA GPU, and not the launcher's own PTX for NVIDIA's GPUs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hip_over_cuda_ptx.h"
#include "sandbox/launcher/memory/trusted_hip.h"
#include "tests/hip_over_cuda/cuda_calls.h"

#define ASSAY_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace cu = assay::sandbox::hip_over_cuda;

constexpr int kRtcSuccess = 0, kRtcCompilationFailed = 6;  // values of hiprtcResult

struct Program {
  std::string text, log, image;
};

__attribute__((constructor)) void load_cuda_for_rtc() { cu::cuda_calls(); }

/// Assembles the PTX for the GPU of the current context. Returns an error, or an empty text.
std::string assemble(std::string& image) {
  const cu::CudaCalls& cuda = cu::cuda_calls();
  if (!cuda.problem.empty()) return cuda.problem;
  std::string ptx = kTrustedPtx;
  cu::CUlinkState state = nullptr;
  void* made = nullptr;
  std::size_t bytes = 0;
  cu::CUresult result = cuda.cuLinkCreate_v2(0, nullptr, nullptr, &state);
  if (result != cu::kSuccess) return "cuLinkCreate: " + std::to_string(result);
  result = cuda.cuLinkAddData_v2(state, assay::sandbox::cuda::kJitInputPtx, ptx.data(),
                                 ptx.size() + 1, "", 0, nullptr, nullptr);
  if (result == cu::kSuccess) result = cuda.cuLinkComplete(state, &made, &bytes);
  if (result == cu::kSuccess) image.assign(static_cast<const char*>(made), bytes);
  cuda.cuLinkDestroy(state);
  return result == cu::kSuccess ? "" : "assembling PTX: CUresult " + std::to_string(result);
}

}  // namespace

ASSAY_EXPORT int hiprtcCreateProgram(Program** program, const char* text, const char*, int,
                                     const char**, const char**) {
  *program = new Program{text, "", ""};
  return kRtcSuccess;
}
ASSAY_EXPORT int hiprtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return kRtcSuccess;
}
ASSAY_EXPORT int hiprtcCompileProgram(Program* program, int, const char**) {
  program->log = program->text == assay::sandbox::hip::kTrustedText
                     ? assemble(program->image)
                     : "this stand-in compiles only the launcher's own kernels";
  return program->log.empty() ? kRtcSuccess : kRtcCompilationFailed;
}
ASSAY_EXPORT int hiprtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return kRtcSuccess;
}
ASSAY_EXPORT int hiprtcGetProgramLog(Program* program, char* log) {
  std::copy_n(program->log.c_str(), program->log.size() + 1, log);
  return kRtcSuccess;
}
ASSAY_EXPORT int hiprtcGetCodeSize(Program* program, std::size_t* bytes) {
  *bytes = program->image.size();
  return kRtcSuccess;
}
ASSAY_EXPORT int hiprtcGetCode(Program* program, char* image) {
  std::copy_n(program->image.data(), program->image.size(), image);
  return kRtcSuccess;
}
ASSAY_EXPORT const char* hiprtcGetErrorString(int result) {
  return result == kRtcSuccess ? "HIPRTC_SUCCESS" : "HIPRTC_ERROR_COMPILATION";
}
