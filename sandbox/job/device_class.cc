#include "sandbox/job/device_class.h"

#include <cstdint>

#include "base/text.h"

namespace assay::sandbox {
namespace {

constexpr int kGiBShift = 30;
constexpr std::int64_t kKHzPerMHz = 1'000;
constexpr std::int64_t kBytesPerGB = 1'000'000'000;

std::string differs(const std::string& what, const std::string& pool, const std::string& worker) {
  if (pool == worker) return "";
  return what + " is '" + escape_text(worker) + "', and that of the pool is '" + escape_text(pool) +
         "'";
}

std::string differs(const std::string& what, std::int64_t pool, std::int64_t worker,
                    std::int64_t unit, const std::string& name) {
  if (pool == worker) return "";
  return differs(what, std::to_string(pool / unit) + name, std::to_string(worker / unit) + name);
}

}  // namespace

std::string class_difference(const DeviceInfo& pool, const DeviceInfo& worker) {
  const DeviceClass& mine = pool.hardware;
  const DeviceClass& other = worker.hardware;
  std::string found = differs("GPU", mine.name, other.name);
  if (found.empty())
    found = differs("memory", mine.memory_bytes >> kGiBShift, other.memory_bytes >> kGiBShift, 1,
                    " GiB");
  if (found.empty()) found = differs("driver", mine.driver, other.driver);
  if (found.empty())
    found = differs("highest clock", mine.clock_khz, other.clock_khz, kKHzPerMHz, " MHz");
  if (found.empty())
    found = differs("bandwidth", mine.bandwidth_bytes_per_s, other.bandwidth_bytes_per_s,
                    kBytesPerGB, " GB/s");
  // The number of multiprocessors, for example, is only in the description.
  if (found.empty()) found = differs("device", pool.description, worker.description);
  return found;
}

bool grades_can_be_compared(const DeviceInfo& one, const DeviceInfo& other) {
  if (one.name == other.name) return true;
  const auto measures = [](const DeviceInfo& device) {
    return device.can_time || !device.hardware.name.empty();
  };
  if (!measures(one) && !measures(other)) return true;
  if (one.hardware.name.empty() || other.hardware.name.empty()) return false;
  // The descriptions are left out, because that of a pool says how many workers the pool has.
  DeviceInfo mine, its;
  mine.hardware = one.hardware;
  its.hardware = other.hardware;
  return class_difference(mine, its).empty();
}

}  // namespace assay::sandbox
