// Server-sent events to one client, over whatever carries bytes. A call may send from several
// threads.
//
//   EventStream events(write, finish, hung_up);
//   events.send(message);  events.send(message, "3-17");         // with an id, so that the client
//   can come back for what follows it
//
// Thread-safe. The functions are called one at a time.
//
// The last events of a legacy HTTP session, so that a client whose stream broke can have the rest:
// bounded in number and bytes, oldest dropped first.
//
//   const auto stream = log.open();
//   log.append(stream, data);                                   // by the call's thread
//   log.after(*log.find("3-17"), 500ms)                          // by whoever carries the stream
//   to the client log.finish(stream);                                         // nothing more will
//   come
//
// Stream 0 carries what belongs to no request, and ends with the session. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace assay::mcp {

class EventStream {
 public:
  using Write = std::function<bool(const std::string& bytes)>;  // false: the client is gone

  /// `finish` ends the stream so that the client sees a proper end.
  EventStream(Write write, std::function<void()> finish, std::function<bool()> hung_up)
      : write_(std::move(write)), finish_(std::move(finish)), hung_up_(std::move(hung_up)) {}

  /// `data` has no line breaks. An empty id is left out.
  void send(std::string_view data, std::string_view id = "");
  /// An event without content that gives the client an id to come back with, and says after which
  /// time.
  void prime(std::string_view id, std::chrono::milliseconds retry);
  /// Ends the stream while its call still runs. Nothing is sent after this.
  void finish();
  /// finish() was called, or the client is gone.
  bool ended() const { return closed_; }

  /// The client is gone, or the stream is finished. Also keeps a silent stream alive: whoever waits
  /// asks this.
  bool closed();

 private:
  void write(const std::string& text);

  const Write write_;
  const std::function<void()> finish_;
  const std::function<bool()> hung_up_;
  Mutex mutex_;
  std::atomic<bool> closed_{false};
  std::atomic<std::chrono::steady_clock::time_point> last_write_{std::chrono::steady_clock::now()};
};

class EventLog {
 public:
  struct Place {
    std::uint64_t stream = 0;
    std::uint64_t number =
        0;  // of the last event that the client has; numbers rise over all streams
  };
  struct Event {
    Place place;
    std::string data;
  };
  struct Batch {
    std::vector<Event> events;
    bool ended = false;  // nothing more will come
  };

  EventLog(std::size_t max_events, std::size_t max_bytes)
      : max_events_(max_events), max_bytes_(max_bytes) {}

  /// A new stream, and the place before its first event.
  Place open();
  Place append(std::uint64_t stream, std::string data);
  void finish(std::uint64_t stream);
  /// Every stream ends.
  void close();

  /// The place that an event id ("stream-number") names; nothing when this log never gave it.
  std::optional<Place> find(std::string_view id) const;
  /// What is kept of `place`'s stream after it; waits at most `timeout` for the first.
  Batch after(const Place& place, std::chrono::milliseconds timeout);

 private:
  const std::size_t max_events_, max_bytes_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<Event> events_ ASSAY_GUARDED_BY(mutex_);
  std::size_t bytes_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_stream_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_number_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::set<std::uint64_t> open_ ASSAY_GUARDED_BY(mutex_) = {0};
};

/// "stream-number"
std::string event_id(const EventLog::Place& place);

}  // namespace assay::mcp
