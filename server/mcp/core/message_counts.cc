#include "server/mcp/core/message_counts.h"

#include <algorithm>
#include <utility>

namespace assay::mcp {
namespace {

/// The methods of both protocol eras. All other names are counted under the last entry. Without
/// this entry, a client could fill the memory with invented names.
constexpr std::array kMethodNames = {"initialize",
                                     "ping",
                                     "server/discover",
                                     "tools/list",
                                     "tools/call",
                                     "resources/list",
                                     "resources/read",
                                     "resources/templates/list",
                                     "resources/subscribe",
                                     "resources/unsubscribe",
                                     "prompts/list",
                                     "prompts/get",
                                     "completion/complete",
                                     "logging/setLevel",
                                     "subscriptions/listen",
                                     "tasks/get",
                                     "tasks/result",
                                     "tasks/list",
                                     "tasks/update",
                                     "tasks/cancel",
                                     "notifications/initialized",
                                     "notifications/cancelled",
                                     "notifications/progress",
                                     "notifications/roots/list_changed",
                                     "response",
                                     "other"};

constexpr std::array kEndingNames = {"ok", "failed", "error", "cancelled", "accepted"};

/// The buckets of the histogram of times. kBounds contains the upper bounds in seconds, kBoundNames
/// the same bounds as text. A time above the last bound is counted only in the bucket +Inf.
constexpr std::array<double, 13> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1,
                                            0.5,    1,     2.5,    5,     10,   25};
constexpr std::array kBoundNames = {"0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.1",
                                    "0.5",    "1.0",   "2.5",    "5.0",   "10.0", "25.0",  "+Inf"};

}  // namespace

std::string_view MessageCounts::name_of(Ending ending) {
  return kEndingNames[static_cast<std::size_t>(ending)];
}

void MessageCounts::add(std::string_view method, Ending ending, double seconds,
                        std::string_view tool) {
  static_assert(kMethodNames.size() <= kMethods && kEndingNames.size() == kEndings);
  static_assert(kBoundNames.size() == kBuckets && kBounds.size() + 1 == kBuckets);
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const auto known = std::find(kMethodNames.begin(), kMethodNames.end(), method);
  const auto index =
      static_cast<std::size_t>(std::min(known, kMethodNames.end() - 1) - kMethodNames.begin());
  messages_[index][static_cast<std::size_t>(ending)].fetch_add(1, kRelaxed);
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  buckets_[index][static_cast<std::size_t>(bound - kBounds.begin())].fetch_add(1, kRelaxed);
  nanoseconds_[index].fetch_add(static_cast<std::uint64_t>(seconds * 1e9), kRelaxed);
  if (const auto found = tools_.find(tool); found != tools_.end())
    found->second[static_cast<std::size_t>(ending)].fetch_add(1, kRelaxed);
}

MessageCounts::Snapshot MessageCounts::snapshot() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Snapshot out;
  for (std::size_t method = 0; method < kMethodNames.size(); ++method) {
    std::uint64_t total = 0;
    for (std::size_t ending = 0; ending < kEndings; ++ending) {
      const std::uint64_t count = messages_[method][ending].load(kRelaxed);
      if (count > 0) out.messages.push_back({kMethodNames[method], kEndingNames[ending], count});
      total += count;
    }
    if (total == 0) continue;
    Snapshot::Times times{kMethodNames[method], {}, 0};
    for (std::size_t i = 0; i < kBuckets; ++i)
      times.buckets.push_back({kBoundNames[i], buckets_[method][i].load(kRelaxed)});
    times.seconds = static_cast<double>(nanoseconds_[method].load(kRelaxed)) / 1e9;
    out.times.push_back(std::move(times));
  }
  for (const auto& [tool, endings] : tools_) {
    for (std::size_t ending = 0; ending < kEndings; ++ending) {
      const std::uint64_t count = endings[ending].load(kRelaxed);
      if (count > 0) out.tool_calls.push_back({tool, kEndingNames[ending], count});
    }
  }
  return out;
}

}  // namespace assay::mcp
