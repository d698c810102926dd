// The kernels of `assay-launcher --driver fake`. They take every path of a launch, and each of its
// failures, through the real process on a machine without a GPU. Their parameters have the sizes
// that a CUDA kernel with that signature would declare.
//
// - fake_vector_add(const float* x, const float* y, float* out, int n): out[i] = x[i] + y[i]
// - fake_write_byte(char* p, long offset): p[offset] = 1, inside or outside of the buffer
// - fake_nothing(char* p, void* global_scratch, void* profile_scratch): returns at once; it has the
//   parameters that Triton's compiler declares
// - fake_illegal_address(): loses the context
// - fake_endless(): never returns
// - fake_reset(): removes the device, as a reset does
// - fake_system_call(long* result, long number, long a[6]): makes one system call, as an image
// could
//   that broke the driver's user side; device addresses become those of the memory behind them
//
// The last one exists only in a build that can leave layers out (sandbox/jail/layer.h), for the
// attempts on the launcher's jail.
#pragma once

#include "sandbox/launcher/driver/fake_driver.h"

namespace assay::sandbox {

void add_fake_kernels(FakeDriver& gpu);

}  // namespace assay::sandbox
