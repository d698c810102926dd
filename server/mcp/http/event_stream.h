// Server-sent events to one client, over whatever carries bytes. A call may send from several
// threads.
//
//   EventStream events(write, finish, hung_up);
//   events.send(message);  events.send(message, "3-17");         // with an id, so that the client
//   can come back for what follows it
//
// Thread-safe. The functions are called one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

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

}  // namespace assay::mcp
