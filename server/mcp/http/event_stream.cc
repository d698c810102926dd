#include "server/mcp/http/event_stream.h"

#include <charconv>

namespace assay::mcp {
namespace {

constexpr std::int64_t kKeepAliveNs = 10'000'000'000;

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

void EventStream::send(std::string_view data, std::string_view id) {
  std::string text;
  if (!id.empty()) text.append("id: ").append(id).append("\n");
  write(text.append("data: ").append(data).append("\n\n"));
}

void EventStream::prime(std::string_view id, std::chrono::milliseconds retry) {
  write("id: " + std::string(id) + "\nretry: " + std::to_string(retry.count()) + "\ndata: \n\n");
}

void EventStream::finish() {
  const MutexLock lock(mutex_);
  if (!closed_.exchange(true)) finish_();
}

void EventStream::keep_alive() {
  if (clock_.monotonic_ns() - last_write_ns_ < kKeepAliveNs || !mutex_.try_lock()) return;
  const bool sent = write_locked(": waiting\n\n");
  mutex_.unlock();
  if (!sent) gone_.request_stop();
}

void EventStream::write(const std::string& text) {
  const bool sent = [&] {
    const MutexLock lock(mutex_);
    return write_locked(text);
  }();
  // The mutex is not locked here, because request_stop() runs callbacks of the handler, which may
  // use this stream.
  if (!sent) gone_.request_stop();
}

bool EventStream::write_locked(const std::string& text) {
  last_write_ns_ = clock_.monotonic_ns();
  if (closed_) return true;
  closed_ = !write_(text);
  return !closed_;
}

std::string event_id(const EventLog::Place& place) {
  return std::to_string(place.stream) + "-" + std::to_string(place.number);
}

EventLog::Place EventLog::open() {
  const MutexLock lock(mutex_);
  open_.insert(++last_stream_);
  return {last_stream_, last_number_};
}

EventLog::Place EventLog::append(std::uint64_t stream, std::string data) {
  Place place;
  {
    const MutexLock lock(mutex_);
    place = {stream, ++last_number_};
    bytes_ += data.size();
    events_.push_back({place, std::move(data)});
    while (events_.size() > 1 && (events_.size() > max_events_ || bytes_ > max_bytes_)) {
      bytes_ -= events_.front().data.size();
      events_.pop_front();
    }
  }
  changed_.notify_all();
  return place;
}

void EventLog::finish(std::uint64_t stream) {
  {
    const MutexLock lock(mutex_);
    open_.erase(stream);
  }
  changed_.notify_all();
}

void EventLog::close() {
  {
    const MutexLock lock(mutex_);
    open_.clear();
  }
  changed_.notify_all();
}

std::optional<EventLog::Place> EventLog::find(std::string_view id) const {
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = number_in(id.substr(0, dash));
  const auto number = number_in(id.substr(dash + 1));
  const MutexLock lock(mutex_);
  if (!stream || !number || *stream > last_stream_ || *number > last_number_) return std::nullopt;
  return Place{*stream, *number};
}

bool EventLog::collect(const Place& place, Batch& batch) const {
  for (const Event& event : events_) {
    if (event.place.stream == place.stream && event.place.number > place.number)
      batch.events.push_back(event);
  }
  batch.ended = open_.count(place.stream) == 0;
  return batch.ended || !batch.events.empty();
}

EventLog::Batch EventLog::after(const Place& place) const {
  Batch batch;
  const MutexLock lock(mutex_);
  collect(place, batch);
  return batch;
}

EventLog::Batch EventLog::wait_after(const Place& place, std::stop_token stop) {
  Batch batch;
  MutexLock lock(mutex_);
  changed_.wait(lock, std::move(stop),
                [&]() ASSAY_REQUIRES(mutex_) { return collect(place, batch); });
  return batch;
}

}  // namespace assay::mcp
