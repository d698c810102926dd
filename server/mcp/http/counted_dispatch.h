// Dispatcher::handle, counted: which method, how it ended, how long it took.
//
// Thread-safe.
#pragma once

#include "server/mcp/core/dispatch.h"
#include "server/mcp/http/http_metrics.h"

namespace assay::mcp {

class CountedDispatch {
 public:
  CountedDispatch(Dispatcher& dispatcher, HttpMetrics& metrics)
      : dispatcher_(dispatcher), metrics_(metrics) {}
  Outcome handle(const Message& message, const TransportContext& exchange);

 private:
  Dispatcher& dispatcher_;
  HttpMetrics& metrics_;
};

}  // namespace assay::mcp
