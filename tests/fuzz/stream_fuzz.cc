// Fuzzes the two readers of byte streams: lines, as a client's stdin or a server's stdout carries
// them, and server-sent events.
//
// Whatever the bytes: no crash; a line is never longer than the limit and has no line break; an
// event's data has no carriage return at a line's end.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/unique_fd.h"
#include "server/mcp/protocol/sse.h"
#include "server/mcp/stdio/lines.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  constexpr std::int64_t kMaxLineBytes = 64;
  constexpr std::size_t kPipeBytes = 4096;  // fits into a pipe, so that writing cannot block
  const std::string_view bytes =
      std::string_view(reinterpret_cast<const char*>(data), size).substr(0, kPipeBytes);
  static_cast<void>(mcp::sse_data(bytes));

  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  if (::write(write_end.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  write_end.reset();
  mcp::LineReader reader(read_end.get(), kMaxLineBytes);
  while (const auto line = reader.next()) {
    if (line->text.size() > kMaxLineBytes || line->text.find('\n') != std::string::npos ||
        line->text.empty() != line->oversize)
      std::abort();
  }
  return 0;
}
