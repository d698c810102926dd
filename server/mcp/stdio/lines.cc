#include "server/mcp/stdio/lines.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace assay::mcp {
namespace {

constexpr std::size_t kReadBytes = 65536;

void wait_for(int fd, short events) {
  pollfd entry{fd, events, 0};
  ::poll(&entry, 1, -1);  // an error is reported by the read or write that follows
}

}  // namespace

bool LineReader::wait_for_input() const {
  std::array<pollfd, 2> entries{{{fd_, POLLIN, 0}, {wake_, POLLIN, 0}}};  // poll() ignores -1
  while (::poll(entries.data(), entries.size(), -1) < 0 && errno == EINTR) {
  }
  return entries[1].revents == 0;
}

bool LineReader::fill() {
  std::array<char, kReadBytes> chunk;
  while (true) {
    if (wake_ >= 0 && !wait_for_input()) {
      buffer_.clear();
      scanned_ = 0;
      ended_ = true;
      return false;
    }
    const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
    if (got > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
      return true;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for(fd_, POLLIN);
      continue;
    }
    ended_ = true;
    return false;
  }
}

std::optional<Line> LineReader::next() {
  bool oversize = false;
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos && !ended_) {
      scanned_ = buffer_.size();
      if (buffer_.size() > max_bytes_) {
        oversize = true;
        buffer_.clear();
        scanned_ = 0;
      }
      fill();
      continue;
    }
    Line line;
    line.text = buffer_.substr(0, end);
    buffer_.erase(0, end == std::string::npos ? end : end + 1);
    scanned_ = 0;
    line.oversize = oversize || line.text.size() > max_bytes_;
    if (line.oversize) line.text.clear();
    if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
    if (line.oversize || line.text.find_first_not_of(" \t") != std::string::npos) return line;
    if (ended_ && buffer_.empty()) return std::nullopt;
  }
}

Status write_line(int fd, std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() + 1);
  bytes.append(text).push_back('\n');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(fd, POLLOUT);
    } else if (errno != EINTR) {
      return fail_errno("write");
    }
  }
  return {};
}

}  // namespace assay::mcp
