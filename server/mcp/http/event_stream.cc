#include "server/mcp/http/event_stream.h"

#include <charconv>

namespace assay::mcp {
namespace {

constexpr std::chrono::seconds kKeepAliveComment{10};

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

bool EventStream::closed() {
  if (std::chrono::steady_clock::now() - last_write_.load() > kKeepAliveComment)
    write(": waiting\n\n");
  return closed_ || hung_up_();
}

void EventStream::write(const std::string& text) {
  const MutexLock lock(mutex_);
  last_write_ = std::chrono::steady_clock::now();
  if (!closed_) closed_ = !write_(text);
}

namespace {

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

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

EventLog::Batch EventLog::after(const Place& place, std::chrono::milliseconds timeout) {
  Batch batch;
  const auto collect = [&]() ASSAY_REQUIRES(mutex_) {
    for (const Event& event : events_) {
      if (event.place.stream == place.stream && event.place.number > place.number)
        batch.events.push_back(event);
    }
    batch.ended = open_.count(place.stream) == 0;
    return batch.ended || !batch.events.empty();
  };
  MutexLock lock(mutex_);
  changed_.wait_for(lock, timeout, collect);
  return batch;
}

}  // namespace assay::mcp
