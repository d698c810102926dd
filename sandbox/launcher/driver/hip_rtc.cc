#include "sandbox/launcher/driver/hip_rtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

namespace assay::sandbox::hip {
namespace {

using RtcProgram = struct OpaqueRtcProgram*;
constexpr std::array kRtcLibraries = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so",
                                      "libamdhip64.so.5", "libamdhip64.so"};
constexpr std::size_t kMostLogBytes = 2000;

// Expands F(symbol, signature). The names and signatures are those of the public "HIP RTC"
// reference. A result of 0 is success.
// clang-format off
#define ASSAY_HIP_RTC_FUNCTIONS(F)                                                              \
  F(hiprtcCreateProgram,                                                                        \
    int(RtcProgram*, const char*, const char*, int, const char**, const char**))                \
  F(hiprtcCompileProgram, int(RtcProgram, int, const char**))                                   \
  F(hiprtcGetProgramLogSize, int(RtcProgram, std::size_t*))                                     \
  F(hiprtcGetProgramLog, int(RtcProgram, char*))                                                \
  F(hiprtcGetCodeSize, int(RtcProgram, std::size_t*))                                           \
  F(hiprtcGetCode, int(RtcProgram, char*))                                                      \
  F(hiprtcDestroyProgram, int(RtcProgram*))                                                     \
  F(hiprtcGetErrorString, const char*(int))
// clang-format on

struct RtcApi {
#define ASSAY_HIP_RTC_MEMBER(symbol, ...) std::add_pointer_t<__VA_ARGS__> symbol = nullptr;
  ASSAY_HIP_RTC_FUNCTIONS(ASSAY_HIP_RTC_MEMBER)
#undef ASSAY_HIP_RTC_MEMBER
};

Result<RtcApi> load_rtc() {
  std::string problem;
  for (const char* name : kRtcLibraries) {
    // The library is never closed, because threads and exit handlers of the runtime still use it.
    void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem = ::dlerror();
      continue;
    }
    RtcApi api;
    bool whole = true;
#define ASSAY_HIP_RTC_LOAD(symbol, ...)                                           \
  api.symbol = reinterpret_cast<decltype(api.symbol)>(::dlsym(library, #symbol)); \
  if (api.symbol == nullptr) {                                                    \
    problem = std::string(name) + " lacks " + #symbol;                            \
    whole = false;                                                                \
  }
    ASSAY_HIP_RTC_FUNCTIONS(ASSAY_HIP_RTC_LOAD)
#undef ASSAY_HIP_RTC_LOAD
    if (whole) return api;
  }
  return fail(ErrorCode::unavailable,
              "no hipRTC, which compiles the launcher's own kernels (install the package hiprtc or "
              "hip-runtime-amd of ROCm): " +
                  problem);
}

const Result<RtcApi>& rtc() {
  static const Result<RtcApi> loaded = load_rtc();
  return loaded;
}

std::string log_of(const RtcApi& api, RtcProgram program) {
  std::size_t bytes = 0;
  if (api.hiprtcGetProgramLogSize(program, &bytes) != 0 || bytes == 0) return "";
  std::string log(bytes, '\0');
  if (api.hiprtcGetProgramLog(program, log.data()) != 0) return "";
  return ": " + log.substr(0, std::min(log.find('\0'), kMostLogBytes));
}

}  // namespace

Status open_hip_rtc() {
  const Result<RtcApi>& api = rtc();
  return api ? Status() : fail(api.error());
}

LaunchResult<std::string> compile_text(std::string_view text, const std::string& target) {
  const auto wrong = [](const std::string& message) {
    return launch_fail(LaunchErrorKind::internal_error, message);
  };
  const Result<RtcApi>& api = rtc();
  if (!api) return wrong(api.error().message);
  RtcProgram program = nullptr;
  int result = api->hiprtcCreateProgram(&program, std::string(text).c_str(), "assay.hip", 0,
                                        nullptr, nullptr);
  if (result != 0) return wrong(std::string("hipRTC: ") + api->hiprtcGetErrorString(result));
  const std::string option = "--offload-arch=" + target.substr(target.find(':') + 1);
  std::array<const char*, 2> options = {option.c_str(), "-O3"};
  std::string image;
  result = api->hiprtcCompileProgram(program, options.size(), options.data());
  std::size_t bytes = 0;
  if (result == 0) result = api->hiprtcGetCodeSize(program, &bytes);
  if (result == 0) {
    image.resize(bytes);
    result = api->hiprtcGetCode(program, image.data());
  }
  const std::string problem = result == 0
                                  ? ""
                                  : std::string("compiling HIP C++ for ") + target + ": " +
                                        api->hiprtcGetErrorString(result) + log_of(*api, program);
  api->hiprtcDestroyProgram(&program);
  if (!problem.empty()) return wrong(problem);
  return image;
}

}  // namespace assay::sandbox::hip
