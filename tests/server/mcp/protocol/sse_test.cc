#include "server/mcp/protocol/sse.h"

#include "tests/catch.h"

namespace assay::mcp {

TEST_CASE("sse: data lines, comments, line ends, unfinished events") {
  CHECK(sse_data(": hello\n\ndata: a\n\nevent: x\nid: 1\ndata:b\r\ndata: c\r\n\r\ndata: cut off")
            .size() == 2);
  CHECK(sse_data("data: a\ndata: b\n\n") == std::vector<std::string>{"a\nb"});
  CHECK(sse_data("").empty());
  SseReader reader;
  CHECK(reader.feed("id: 1\nretry: 20\ndata:\n\nid: 2\ndata: a\n\nid: 3\ndata: cut").size() == 2);
  CHECK(reader.last_id() == "2");
  CHECK(reader.retry_ms() == 20);
  reader.begin_stream();
  CHECK(reader.feed("data: b\n\nretry: soon\nid\n\n") == std::vector<std::string>{"b"});
  CHECK(reader.last_id().empty());  // an id without a value clears it
  CHECK(reader.retry_ms() == 20);
}

}  // namespace assay::mcp
