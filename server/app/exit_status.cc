#include "server/app/exit_status.h"

#include "base/stderr_line.h"

namespace assay::server {

int print_error(const std::string& command, int status, const std::string& message) {
  stderr_line("assay " + command + ": " + message);
  return status;
}

int status_of_device_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found
             ? kUnknownName
             : kUnavailable;
}

}  // namespace assay::server
