// FrameInbox is a queue of frames about one recording: threads that receive frames put them into
// it, and one thread takes them.
//
//   inbox.put(std::move(frame));
//   Result<sandbox::Frame> next = inbox.wait(deadline);
//
// Thread-safe. Whoever sends the frames waits for answers, so the queue stays short.
#pragma once

#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/wire/deadline.h"
#include "sandbox/wire/frame.h"

namespace assay::server {

class FrameInbox {
 public:
  void put(sandbox::Frame frame) {
    const MutexLock lock(mutex_);
    frames_.push_back(std::move(frame));
    changed_.notify_all();
  }
  /// Puts the frames before all others, in this order.
  void put_first(std::vector<sandbox::Frame> frames) {
    const MutexLock lock(mutex_);
    frames_.insert(frames_.begin(), std::make_move_iterator(frames.begin()),
                   std::make_move_iterator(frames.end()));
    changed_.notify_all();
  }
  /// Makes every later wait() fail with `unavailable`, because the sender was lost.
  void close(const std::string& reason) {
    const MutexLock lock(mutex_);
    closed_ = reason;
    changed_.notify_all();
  }
  /// Waits for the next frame. Errors: unavailable after close(); cancelled; resource_exhausted.
  Result<sandbox::Frame> wait(const sandbox::Deadline& deadline) {
    MutexLock lock(mutex_);
    deadline.wait(changed_, lock,
                  [&]() ASSAY_REQUIRES(mutex_) { return closed_ || !frames_.empty(); });
    if (closed_) return fail(ErrorCode::unavailable, *closed_);
    if (frames_.empty())
      return fail(deadline.cancelled() ? ErrorCode::cancelled : ErrorCode::resource_exhausted,
                  "no frame came");
    sandbox::Frame next = std::move(frames_.front());
    frames_.pop_front();
    return next;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::deque<sandbox::Frame> frames_ ASSAY_GUARDED_BY(mutex_);
  std::optional<std::string> closed_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
