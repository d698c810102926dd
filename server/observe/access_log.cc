#include "server/observe/access_log.h"

#include <array>
#include <string>

#include "base/rfc3339.h"
#include "base/text.h"

namespace assay::server {
namespace {

constexpr std::size_t kMaxPathBytes = 256;
constexpr double kNsInMs = 1e6;

}  // namespace

void AccessLog::write(const mcp::HttpRecord& record) {
  const std::string path = cut_end(record.path, kMaxPathBytes);
  const std::array<log::Field, 8> fields = {{
      {"address", record.address},
      {"principal", record.principal},
      {"method", record.method},
      {"path", path},
      {"status", record.status},
      {"refused", to_string(record.refusal)},
      {"bytes", record.bytes},
      {"duration_ms", static_cast<double>(record.duration_ns) / kNsInMs},
  }};
  if (file_ == nullptr)
    return log::write(log::Level::info, "request", fields.data(), fields.size());
  const std::string time = iso_time(record.start_unix_ms);
  const std::string rest = log::format_fields(format_, "request", fields.data(), fields.size());
  file_->append(format_ == log::Format::json ? "{\"time\":\"" + time + "\"," + rest + "}"
                                             : time + " " + rest);
}

}  // namespace assay::server
