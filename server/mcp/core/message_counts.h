// MessageCounts counts the messages that a dispatcher has handled, by method and outcome, and by
// method and the time that they took. It also counts the calls of each tool.
//
//   counts.declare_tool("add");  // before the server starts to serve
//   counts.add("tools/call", MessageCounts::Ending::ok, 0.004, "add");
//   const MessageCounts::Snapshot now = counts.snapshot();
//
// Apart from declare_tool(), lock-free and thread-safe: a message costs a few atomic increments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
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

  /// Returns the name of the ending, such as "ok", which metrics and logs use.
  static std::string_view name_of(Ending ending);

  /// Adds a tool whose calls are counted. Not thread-safe.
  void declare_tool(const std::string& name) { tools_[name]; }

  /// Counts a message that took `seconds`. All methods that MCP does not define are counted under a
  /// single name. `tool` is the tool that a tools/call names; calls of tools that were not declared
  /// are counted only by method, so that a client cannot invent names.
  void add(std::string_view method, Ending ending, double seconds, std::string_view tool = {});

  struct Snapshot {
    struct Messages {
      std::string_view method, ending;
      std::uint64_t count = 0;  // at least 1
    };
    struct ToolCalls {
      std::string_view tool, ending;
      std::uint64_t count = 0;  // at least 1
    };
    struct Bucket {
      std::string_view upper_bound;  // in seconds, inclusive; the last is "+Inf"
      std::uint64_t count = 0;       // excludes messages of the lower buckets
    };
    struct Times {
      std::string_view method;
      std::vector<Bucket> buckets;
      double seconds = 0;  // the sum over all messages of the method
    };
    std::vector<Messages> messages;
    std::vector<ToolCalls> tool_calls;
    std::vector<Times> times;  // of the methods that have at least one message
  };
  /// Returns a copy of the counts. If a message is being counted at the same time, some members of
  /// the copy include the message, and others do not.
  Snapshot snapshot() const;

 private:
  static constexpr std::size_t kEndings = 5;
  static constexpr std::size_t kMethods = 32;  // at least the number of names in message_counts.cc
  static constexpr std::size_t kBuckets = 14;

  using Endings = std::array<std::atomic<std::uint64_t>, kEndings>;
  std::array<Endings, kMethods> messages_{};
  std::map<std::string, Endings, std::less<>> tools_;
  std::array<std::array<std::atomic<std::uint64_t>, kBuckets>, kMethods> buckets_{};
  std::array<std::atomic<std::uint64_t>, kMethods> nanoseconds_{};
};

}  // namespace assay::mcp
