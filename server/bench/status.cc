#include "server/bench/status.h"

#include "server/app/exit_status.h"

namespace assay::server {

int status_of_option_error(const Error& error) {
  return error.code == ErrorCode::not_found ? kUnknownName : kUsage;
}

int status_of_setup_error(const BenchOptions& options, const Error& error) {
  if (error.code == ErrorCode::corrupt) return kBadData;
  if (error.code == ErrorCode::permission_denied) return kNoCredentials;
  if (error.code == ErrorCode::not_found) return options.replay.empty() ? kUnknownName : kNoInput;
  return kUsage;
}

int status_of_price_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument ? kUsage : kBadConfig;
}

int status_of_journal_error(const Error& error) {
  if (error.code == ErrorCode::corrupt) return kBadData;
  return error.code == ErrorCode::invalid_argument ? kUsage : kUnavailable;
}

int status_of_start_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kUnknownName;
  return error.code == ErrorCode::io ? kInternal : kUnavailable;
}

}  // namespace assay::server
