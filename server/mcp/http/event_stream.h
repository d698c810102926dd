// EventStream sends server-sent events to one client. EventLog keeps the last events of a client's
// session over HTTP. If a stream breaks, the client can reconnect and get the rest of the events
// from the log. The log is limited in number of events and in bytes. The oldest events are deleted
// first.
//
//   EventStream events(write, finish, gone);
//   const EventLog::Place start = log.open();
//   events.send(data, event_id(log.append(start.stream, data)));
//   const EventLog::Batch missed = log.after(start);
//   log.finish(start.stream);
//
// Stream 0 of a log carries the events that belong to no request, and ends with the session. Both
// classes are thread-safe. An EventStream never calls its functions `write` and `finish` at the
// same time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace assay::mcp {

class EventStream {
 public:
  /// Writes bytes to the client. Returns false when the client has disconnected.
  using Write = std::function<bool(const std::string& bytes)>;

  /// `write` sends bytes to the client. `finish` ends the stream in an orderly way, so that the
  /// client can tell the end from a broken connection. If a write fails, the EventStream requests a
  /// stop of `gone`. The clock must outlive the object.
  EventStream(Write write, std::function<void()> finish, std::stop_source gone,
              const Clock& clock = system_clock())
      : write_(std::move(write)),
        finish_(std::move(finish)),
        gone_(std::move(gone)),
        clock_(clock),
        last_write_ns_(clock.monotonic_ns()) {}

  /// Sends one event. `data` must not have line breaks. An empty id is omitted.
  void send(std::string_view data, std::string_view id = "");
  /// Sends an event without content. The event tells the client which event id to send when it
  /// reconnects, and how long to wait before it reconnects.
  void prime(std::string_view id, std::chrono::milliseconds retry);
  /// If nothing was sent for 10 s, sends a comment, so that no proxy closes the silent connection.
  /// Does nothing while another thread is sending.
  void keep_alive();
  /// Ends the stream although its call still runs. After that, the stream sends no more events.
  void finish();
  /// Returns true when finish() was called or the client has disconnected.
  bool ended() const { return closed_; }

 private:
  void write(const std::string& text);
  bool write_locked(const std::string& text) ASSAY_REQUIRES(mutex_);

  const Write write_;
  const std::function<void()> finish_;
  std::stop_source gone_;
  const Clock& clock_;
  Mutex mutex_;
  std::atomic<bool> closed_{false};
  std::atomic<std::int64_t> last_write_ns_;
};

class EventLog {
 public:
  struct Place {
    std::uint64_t stream = 0;
    /// The number of the last event that the client has received. Each event of a log has a higher
    /// number than all events before it, whatever its stream.
    std::uint64_t number = 0;
  };
  struct Event {
    Place place;
    std::string data;
  };
  struct Batch {
    std::vector<Event> events;
    bool ended = false;  // no more events will follow
  };

  EventLog(std::size_t max_events, std::size_t max_bytes)
      : max_events_(max_events), max_bytes_(max_bytes) {}

  /// Opens a stream and returns the place before its first event, from which after() returns all
  /// its events.
  Place open();
  Place append(std::uint64_t stream, std::string data);
  void finish(std::uint64_t stream);
  /// Ends every stream.
  void close();

  /// Returns the place that an event id names. Returns nothing if the id is malformed, or if its
  /// stream or its number is higher than all that this log has issued.
  std::optional<Place> find(std::string_view id) const;
  /// Returns the events that follow `place` in its stream, as far as the log still has them.
  Batch after(const Place& place) const;
  /// Waits until there is an event after `place`, the stream has ended, or a stop is requested.
  /// Then returns the same as after().
  Batch wait_after(const Place& place, std::stop_token stop);

 private:
  /// Writes the result of after() into `batch`. Returns false if there are no events yet, but the
  /// stream has not ended, so the caller may wait for more.
  bool collect(const Place& place, Batch& batch) const ASSAY_REQUIRES(mutex_);

  const std::size_t max_events_, max_bytes_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<Event> events_ ASSAY_GUARDED_BY(mutex_);
  std::size_t bytes_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_stream_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_number_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::set<std::uint64_t> open_ ASSAY_GUARDED_BY(mutex_) = {0};
};

/// Returns the id of an event: "stream-number".
std::string event_id(const EventLog::Place& place);

}  // namespace assay::mcp
