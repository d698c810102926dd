// MessageCounts counts the messages that a dispatcher has handled, by method and outcome, and by
// the time that they took.
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
    ok,         // the answer is a result
    failed,     // the answer is a tool's result that has isError
    error,      // the answer is a JSON-RPC error
    cancelled,  // the client or the server's shutdown cancelled the call
    accepted,   // a notification or a response, which has no answer
  };

  /// Counts a message that took `seconds`. All methods that MCP does not define are counted under a
  /// single name.
  void add(std::string_view method, Ending ending, double seconds);

  struct Snapshot {
    struct Messages {
      std::string_view method, ending;
      std::uint64_t count = 0;  // at least 1
    };
    struct Bucket {
      std::string_view upper_bound;  // in seconds, inclusive; the last is "+Inf"
      std::uint64_t count = 0;       // excludes messages of the lower buckets
    };
    std::vector<Messages> messages;
    std::vector<Bucket> buckets;
    double seconds = 0;  // the sum over all messages
  };
  /// Returns a copy of the counts. If a message is being counted at the same time, some members of
  /// the copy include the message, and others do not.
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
