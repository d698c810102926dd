#include "server/app/exit_status.h"

#include <cstdio>

namespace assay::server {

int print_error(const std::string& command, int status, const std::string& message) {
  std::fprintf(stderr, "assay %s: %s\n", command.c_str(), message.c_str());
  return status;
}

int status_of_device_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found
             ? kUnknownName
             : kUnavailable;
}

}  // namespace assay::server
