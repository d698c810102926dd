// Compares devices, because times of different devices cannot be compared.
//
//   const std::string other = class_difference(of_pool, of_worker);
//   if (!other.empty()) return refuse("its " + other);
//   if (!grades_can_be_compared(of_pool, of_worker)) return refuse("it is of another class");
//
// Pure functions.
#pragma once

#include <string>

#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Returns how the worker's device differs from the pool's, such as "driver is '570.1', and that of
/// the pool is '580.2'", or "" if their times can be compared. The memory is compared in whole GiB,
/// because drivers keep slightly different parts of it. The clocks must be equal in whole MHz, and
/// the bandwidths in whole GB/s: they are those of the highest clocks, which do not change. The
/// descriptions must be equal too. (A GPU that does not reach its highest clock is slower, which
/// its health check shows.)
std::string class_difference(const DeviceInfo& pool, const DeviceInfo& worker);

/// Says whether grades of the two devices can be in one run: the devices are the same one, or
/// neither of them measures times, or their GPUs are of one class. The GPU of a pool is unknown
/// until its first worker is ready; until then its grades cannot be compared with those of others.
bool grades_can_be_compared(const DeviceInfo& one, const DeviceInfo& other);

}  // namespace assay::sandbox
