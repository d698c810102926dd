// OutputRing keeps the head and the tail of a process's output within a budget, and counts all of
// it.
//
//   OutputRing ring(64 << 10);
//   ring.append(bytes);
//   ring.text();                  // "first lines\n[... 9,876 bytes cut ...]\nlast lines"
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::sandbox {

class OutputRing {
 public:
  explicit OutputRing(std::int64_t keep_bytes) : half_(static_cast<std::size_t>(keep_bytes / 2)) {}

  void append(std::string_view bytes);
  /// Returns all of the output if it fits; else head and tail, with a line between them that tells
  /// how many bytes were cut.
  std::string text() const;
  std::int64_t total() const { return total_; }

 private:
  std::size_t half_;
  std::string head_, tail_;  // the tail holds up to twice its half, so that trimming is rare
  std::int64_t total_ = 0;
};

}  // namespace assay::sandbox
