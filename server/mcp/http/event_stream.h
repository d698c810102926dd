// EventStream sends server-sent events to one client. EventLog keeps the last events of a legacy
// HTTP session, so that a client whose stream broke can get the rest. The log is bounded in number
// and bytes; the oldest events are dropped first.
//
//   EventStream events(write, finish, gone);
//   const EventLog::Place start = log.open();
//   events.send(data, event_id(log.append(start.stream, data)));
//   const EventLog::Batch missed = log.after(start);
//   log.finish(start.stream);
//
// Stream 0 of a log carries the events that belong to no request. It ends with the session. Both
// classes are thread-safe. An EventStream calls its functions one at a time.
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
  using Write = std::function<bool(const std::string& bytes)>;  // false: the client is gone

  /// `finish` ends the stream so that the client sees a proper end. `gone` is requested when a
  /// write fails. The clock must outlive the object.
  EventStream(Write write, std::function<void()> finish, std::stop_source gone,
              const Clock& clock = system_clock())
      : write_(std::move(write)),
        finish_(std::move(finish)),
        gone_(std::move(gone)),
        clock_(clock),
        last_write_ns_(clock.monotonic_ns()) {}

  /// `data` has no line breaks. An empty id is left out.
  void send(std::string_view data, std::string_view id = "");
  /// Sends an event without content. It gives the client an id to come back with, and the pause
  /// before that.
  void prime(std::string_view id, std::chrono::milliseconds retry);
  /// Sends a comment if the stream was silent for 10 s, so that the connection stays open. Does
  /// nothing while another thread sends.
  void keep_alive();
  /// Ends the stream while its call still runs. The stream sends no events after this.
  void finish();
  /// True when finish() was called or the client is gone.
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
    /// The number of the last event that the client has. Numbers rise over all streams.
    std::uint64_t number = 0;
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

  /// Opens a stream and returns the place before its first event.
  Place open();
  Place append(std::uint64_t stream, std::string data);
  void finish(std::uint64_t stream);
  /// Ends every stream.
  void close();

  /// Returns the place that an event id names, or nothing when this log never gave that id.
  std::optional<Place> find(std::string_view id) const;
  /// Returns the kept events of the stream after `place`.
  Batch after(const Place& place) const;
  /// The same, but waits for the first event, the end of the stream or a request of `stop`.
  Batch wait_after(const Place& place, std::stop_token stop);

 private:
  /// Fills `batch`. Returns false when there is nothing to report.
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

/// The id of an event: "stream-number".
std::string event_id(const EventLog::Place& place);

}  // namespace assay::mcp
