// How many messages a dispatcher handled: by method, by how they ended, and how long they took. The
// transport makes no difference.
//
//   counts.add("tools/call", MessageCounts::Ending::ok, 0.004);
//   const MessageCounts::Snapshot now = counts.snapshot();
//
// Lock-free and thread-safe: a message costs a few atomic increments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::mcp {

class MessageCounts {
 public:
  enum class Ending {
    ok,         // a result
    failed,     // a tool's result with isError
    error,      // a JSON-RPC error
    cancelled,  // the client cancelled the call or hung up
    accepted,   // a notification or response: it has no answer
  };

  /// A message that took `seconds`. All methods that are not MCP's are counted as one.
  void add(std::string_view method, Ending ending, double seconds);

  struct Snapshot {
    struct Messages {
      std::string_view method, ending;
      std::uint64_t count = 0;  // at least 1
    };
    struct Bucket {
      std::string_view upper_bound;  // seconds, inclusive; the last is "+Inf"
      std::uint64_t count = 0;       // without those of the buckets below
    };
    std::vector<Messages> messages;
    std::vector<Bucket> buckets;
    double seconds = 0;  // sum over all messages
  };
  /// Messages that are counted meanwhile may be in one part and not in another.
  Snapshot snapshot() const;

 private:
  static constexpr std::size_t kEndings = 5;
  static constexpr std::size_t kMethods = 32;  // at least as many as message_counts.cc names
  static constexpr std::size_t kBuckets = 14;

  std::array<std::array<std::atomic<std::uint64_t>, kEndings>, kMethods> messages_{};
  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace assay::mcp
