// AccessLog writes one line for each HTTP request, in the format of the server's log (text or
// JSON). A line has the path without its query, and no header. So it contains no token.
//
//   AccessLog access(file.get(), log::Format::json);
//   access.write(record);
//
// Thread-safe. The file must outlive the object.
#pragma once

#include "base/log.h"
#include "server/mcp/http/http_record.h"
#include "server/observe/line_file.h"

namespace assay::server {

class AccessLog {
 public:
  /// Writes to `file`, or to the server's log if `file` is null.
  AccessLog(LineFile* file, log::Format format) : file_(file), format_(format) {}

  void write(const mcp::HttpRecord& record);

 private:
  LineFile* const file_;
  const log::Format format_;
};

}  // namespace assay::server
