// Defines small PTX kernels for the launcher's GPU tests. assemble() turns them into device
// binaries.
#pragma once

#include <string>
#include <utility>

#include "sandbox/launcher/driver/cuda_api.h"
#include "sandbox/launcher/driver/cuda_ptx.h"
#include "tests/catch.h"

namespace assay::sandbox::test {

inline constexpr const char* kKernels = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];

// vector_add(x, y, out, n) computes out[i] = x[i] + y[i].
.visible .entry vector_add(.param .u64 px, .param .u64 py, .param .u64 po, .param .u32 pn) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %d<5>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r4, [pn]; setp.ge.u32 %p, %r1, %r4; @%p bra done;
  mul.wide.u32 %d4, %r1, 4;
  ld.param.u64 %d1, [px]; add.u64 %d1, %d1, %d4; ld.global.f32 %f1, [%d1];
  ld.param.u64 %d2, [py]; add.u64 %d2, %d2, %d4; ld.global.f32 %f2, [%d2];
  ld.param.u64 %d3, [po]; add.u64 %d3, %d3, %d4; add.f32 %f3, %f1, %f2; st.global.f32 [%d3], %f3;
done: ret;
}

// write_byte(p, offset) sets p[offset] to 1.
.visible .entry write_byte(.param .u64 pp, .param .u64 po) {
  .reg .b32 %r1; .reg .b64 %d<3>;
  ld.param.u64 %d1, [pp]; ld.param.u64 %d2, [po]; add.u64 %d1, %d1, %d2; mov.u32 %r1, 1; st.global.u8 [%d1], %r1; ret;
}

// illegal_address() writes to address 8.
.visible .entry illegal_address() {
  .reg .b64 %d1;
  mov.u64 %d1, 8; st.global.u64 [%d1], %d1; ret;
}

// endless(p) runs until *p is 12345. Nothing writes this value.
.visible .entry endless(.param .u64 pp) {
  .reg .pred %p; .reg .b32 %r1; .reg .b64 %d1;
  ld.param.u64 %d1, [pp];
again: ld.volatile.global.u32 %r1, [%d1]; setp.ne.u32 %p, %r1, 12345; @%p bra again; ret;
}

// increment(p) adds 1 to *p with one thread.
.visible .entry increment(.param .u64 pp) {
  .reg .b32 %r1; .reg .b64 %d1;
  ld.param.u64 %d1, [pp]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1; ret;
}

// through_shared(out, scratch, offset) passes a number through byte `offset` of dynamic shared
// memory, and through scratch.
.visible .entry through_shared(.param .u64 po, .param .u64 ps, .param .u32 pf) {
  .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [po]; ld.param.u64 %d2, [ps]; ld.param.u32 %r1, [pf];
  mov.u32 %r2, dynamic; add.u32 %r2, %r2, %r1; mov.u32 %r3, 77;
  st.volatile.shared.u32 [%r2], %r3; ld.volatile.shared.u32 %r3, [%r2];
  st.volatile.global.u32 [%d2], %r3; ld.volatile.global.u32 %r3, [%d2]; st.global.u32 [%d1], %r3; ret;
}

// meet(p, blocks) adds 1 to *p in each block, and then waits until *p is `blocks`. It ends only if
// all blocks run at the same time.
.visible .entry meet(.param .u64 pp, .param .u32 pn) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d1;
  mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p bra done;
  ld.param.u64 %d1, [pp]; ld.param.u32 %r2, [pn]; atom.global.add.u32 %r3, [%d1], 1;
again: ld.volatile.global.u32 %r3, [%d1]; setp.lt.u32 %p, %r3, %r2; @%p bra again;
done: ret;
}
)";

/// cluster_size(out) stores the number of blocks of the cluster in *out. Only devices with clusters
/// can run it.
inline constexpr const char* kClusterKernel = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry cluster_size(.param .u64 po) {
  .reg .b32 %r1; .reg .b64 %d1;
  ld.param.u64 %d1, [po]; mov.u32 %r1, %cluster_nctaid.x; st.global.u32 [%d1], %r1; ret;
}
)";

/// Assembles a PTX text for the architecture of device `index`, with the driver's linker. Returns a
/// cubin, because the launcher does not accept PTX.
inline std::string assemble(std::string ptx, int index = 0) {
  using namespace assay::sandbox::cuda;  // NOLINT: test
  Result<const CudaApi*> api = open_cuda_api();
  REQUIRE(api);
  REQUIRE(count_devices(**api));
  CUdevice device = 0;
  CUcontext context = nullptr;
  REQUIRE((*api)->cuDeviceGet(&device, index) == kSuccess);
  REQUIRE((*api)->cuDevicePrimaryCtxRetain(&context, device) == kSuccess);
  REQUIRE((*api)->cuCtxSetCurrent(context) == kSuccess);
  const LaunchResult<std::string> image = compile_ptx(**api, std::move(ptx));
  INFO((image ? "" : image.error().message));
  REQUIRE(image);
  (*api)->cuDevicePrimaryCtxRelease_v2(device);
  return *image;
}

}  // namespace assay::sandbox::test
