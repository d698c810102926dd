#include "sandbox/launcher/exchange.h"

#include <utility>

namespace assay::sandbox {

DeviceExchange::~DeviceExchange() {
  if (base_ != 0) gpu_.unmap_shared(base_);
}

LaunchStatus DeviceExchange::open() {
  if (base_ != 0) return {};
  // What ran before must be over: it could reach the memory from the moment that it is mapped.
  if (LaunchStatus s = gpu_.synchronize(); !s) return s;
  LaunchResult<DevicePtr> base = gpu_.map_shared(fd_, bytes_);
  if (!base) return tl::unexpected(base.error());
  base_ = *base;
  return {};
}

LaunchStatus DeviceExchange::copy_in(std::size_t input, DevicePtr to) {
  if (LaunchStatus s = open(); !s) return s;
  return gpu_.copy_async(to, base_ + inputs_[input].offset, inputs_[input].bytes);
}

LaunchStatus DeviceExchange::copy_out(std::uint64_t offset, DevicePtr from, std::uint64_t bytes) {
  if (LaunchStatus s = open(); !s) return s;
  return gpu_.copy_async(base_ + output_offset_ + offset, from, bytes);
}

LaunchStatus DeviceExchange::close() {
  if (base_ == 0) return {};
  const LaunchStatus finished = gpu_.synchronize();
  const LaunchStatus unmapped = gpu_.unmap_shared(std::exchange(base_, 0));
  return finished ? unmapped : finished;
}

}  // namespace assay::sandbox
