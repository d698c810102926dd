// ByteReader reads little-endian fields from untrusted bytes. It never reads past the end. If too
// few bytes remain for a field, or a count is above its limit, ok() becomes false, and why()
// returns the reason. Every later read returns zero or an empty view.
//
//   ByteReader in(bytes);
//   const std::uint32_t n = in.count("buffers", kMaxPlanBuffers, 21);  // each has 21 bytes or more
//   if (!in.ok()) return fail(ErrorCode::corrupt, in.why());
//
// Not thread-safe. The returned views refer to the bytes, so the bytes must outlive the views.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::sandbox {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

  void reject(std::string_view what, const std::string& reason) {
    if (ok()) why_ = std::string(what) + " at byte " + std::to_string(position_) + ": " + reason;
  }

  template <std::integral T>
  T number(std::string_view what) {
    const std::string_view raw = raw_bytes(what, sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < raw.size(); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
    return static_cast<T>(value);
  }

  /// Returns exactly `size` bytes, or an empty view if fewer bytes remain.
  std::string_view raw_bytes(std::string_view what, std::uint64_t size) {
    if (!ok()) return {};
    if (size > remaining()) {
      reject(what, "needs " + std::to_string(size) + " bytes, " + std::to_string(remaining()) +
                       " are left");
      return {};
    }
    const std::string_view found = bytes_.substr(position_, static_cast<std::size_t>(size));
    position_ += found.size();
    return found;
  }

  /// Reads the number of elements of a list, as a `u32`. Each element has at least `element_bytes`
  /// bytes. Checks that enough bytes follow for all elements, so that the caller may reserve memory
  /// for the elements.
  std::uint32_t count(std::string_view what, std::uint32_t limit, std::size_t element_bytes) {
    const auto n = number<std::uint32_t>(what);
    if (n > limit)
      reject(what, std::to_string(n) + " is over the limit of " + std::to_string(limit));
    if (ok() && static_cast<std::uint64_t>(n) * element_bytes > remaining()) {
      reject(what, std::to_string(n) + " of them need at least " +
                       std::to_string(static_cast<std::uint64_t>(n) * element_bytes) + " bytes, " +
                       std::to_string(remaining()) + " are left");
    }
    return ok() ? n : 0;
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  std::string why_;
};

}  // namespace assay::sandbox
