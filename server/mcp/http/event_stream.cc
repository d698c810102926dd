#include "server/mcp/http/event_stream.h"

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

}  // namespace assay::mcp
