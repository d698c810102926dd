// MessageCounts counts the messages that a dispatcher has handled: by method, by outcome and by
// time.
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
    ok,         // answered with a result
    failed,     // answered with a tool's result that has isError
    error,      // answered with a JSON-RPC error
    cancelled,  // the client cancelled the call
    accepted,   // a notification or response, which has no answer
  };

  /// Counts a message that took `seconds`. All methods that MCP does not have count as one.
  void add(std::string_view method, Ending ending, double seconds);

  struct Snapshot {
    struct Messages {
      std::string_view method, ending;
      std::uint64_t count = 0;  // at least 1
    };
    struct Bucket {
      std::string_view upper_bound;  // in seconds, inclusive; the last is "+Inf"
      std::uint64_t count = 0;       // without the messages of the buckets below
    };
    std::vector<Messages> messages;
    std::vector<Bucket> buckets;
    double seconds = 0;  // the sum over all messages
  };
  /// A message that is counted at the same time may be in one part of the snapshot and not in
  /// another.
  Snapshot snapshot() const;

 private:
  static constexpr std::size_t kEndings = 5;
  static constexpr std::size_t kMethods = 32;  // at least the number of names in message_counts.cc
  static constexpr std::size_t kBuckets = 14;

  std::array<std::array<std::atomic<std::uint64_t>, kEndings>, kMethods> messages_{};
  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

}  // namespace assay::mcp
