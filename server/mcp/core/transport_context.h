// TransportContext: what the transport knows about one message, and how to speak to the client that
// sent it. Lives as long as the message is handled; its functions may be called from many threads
// at once.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "server/mcp/core/in_flight.h"
#include "server/mcp/core/session.h"
#include "server/mcp/protocol/caller.h"

namespace assay::mcp {

struct TransportContext {
  std::string scope = {};  // where request ids are unique; empty: cancellation by id is off
  std::function<void(const nlohmann::json&)> notify =
      {};  // sends a notification, or a question, that belongs to this request; null: cannot
  std::function<bool()> hung_up =
      {};                  // the client is gone: cancels in the stateless era only; null: unknown
  bool stateless = false;  // the transport already knows the era (an HTTP header names 2026-07-28)
  std::shared_ptr<const Caller> caller =
      {};  // whom it comes from; null: no tokens are asked for, everything is allowed
  const InFlight::Ticket* ticket = nullptr;  // admit()'s, when the message waited in a queue
  std::shared_ptr<Session> session = {};     // legacy era: the client; null when it has none
  std::function<void()> release_stream =
      {};  // ends the stream of this request, to be resumed; null: cannot

  std::string principal() const { return name_of(caller); }
};

}  // namespace assay::mcp
