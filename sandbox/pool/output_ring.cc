#include "sandbox/pool/output_ring.h"

#include <algorithm>
#include <cstdint>

namespace assay::sandbox {

void OutputRing::append(std::string_view bytes) {
  total_ += static_cast<std::int64_t>(bytes.size());
  const std::size_t room = std::min(half_ - head_.size(), bytes.size());
  head_.append(bytes.substr(0, room));
  bytes.remove_prefix(room);
  if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
  tail_.append(bytes);
  if (tail_.size() > 2 * half_) tail_.erase(0, tail_.size() - half_);
}

std::string OutputRing::text() const {
  const std::string_view tail =
      std::string_view(tail_).substr(tail_.size() > half_ ? tail_.size() - half_ : 0);
  const std::int64_t cut = total_ - static_cast<std::int64_t>(head_.size() + tail.size());
  if (cut == 0) return head_ + std::string(tail);
  return head_ + "\n[... " + std::to_string(cut) + " bytes cut ...]\n" + std::string(tail);
}

}  // namespace assay::sandbox
