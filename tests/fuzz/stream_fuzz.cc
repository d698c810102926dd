// Fuzzes the two readers of byte streams: the reader of lines, for stdin and stdout, and the reader
// of server-sent events.
//
// For any bytes there must be no crash. A line must not be longer than the limit, and must have no
// line break. The data of an event must have no carriage return at the end of a line.
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
  constexpr std::size_t kPipeBytes = 4096;  // so few bytes fit into a pipe, so a write cannot block
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
