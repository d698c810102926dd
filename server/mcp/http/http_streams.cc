#include "server/mcp/http/http_streams.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace assay::mcp {
namespace {

/// How often a stream of kept events checks whether it must end.
constexpr std::chrono::milliseconds kEndCheckInterval{200};
/// How long a client waits before it comes back for the rest of a stream.
constexpr std::chrono::milliseconds kRetry{500};
/// Clients of older revisions take an event without content for a message.
constexpr std::string_view kPrimingSince = "2025-11-25";

}  // namespace

void HttpStreams::answer(ResponseWriter& response, const std::function<void(EventStream&)>& write) {
  const ConcurrencyLimiter::Pass seat = seats_.enter();
  if (!seat) return response.reply(busy_reply("too many open streams"));
  Connection& connection = response.connection();
  response.begin_stream();
  EventStream events([&](const std::string& bytes) { return response.send(bytes); },
                     [&] {
                       // The call still runs, so the client must not send its next request here.
                       response.end_stream();
                       connection.stop_writing();
                     },
                     [&] { return connection.hung_up(); });
  write(events);
  if (events.ended())
    response.give_up_connection();
  else
    response.end_stream();
}

void HttpStreams::answer_call(const Call& call, const std::shared_ptr<HttpSession>& session,
                              ResponseWriter& response) {
  answer(response, [&](EventStream& events) {
    TransportContext transport = call.transport;
    transport.hung_up = [this, &events] { return stopping_.load() || events.closed(); };
    std::optional<HttpSession::Use> use;
    EventLog::Place start;
    std::function<void(const nlohmann::json&)> send = [&events](const nlohmann::json& message) {
      events.send(dump(message));
    };
    if (session) {  // it keeps the events for a client that loses its connection
      use.emplace(session);
      start = session->log.open();
      send = [&events, &session, &start](const nlohmann::json& message) {
        const std::string data = dump(message);
        events.send(data, event_id(session->log.append(start.stream, data)));
      };
      if (session->client.version() >= kPrimingSince) events.prime(event_id(start), kRetry);
      transport.release_stream = [&events] { events.finish(); };
    }
    transport.notify = send;
    const Outcome outcome = dispatcher_.handle(call.resolved, transport);
    if (outcome.response && !outcome.cancelled) send(*outcome.response);
    if (session) session->log.finish(start.stream);
  });
}

void HttpStreams::resume(const std::shared_ptr<HttpSession>& session, EventLog::Place place,
                         ResponseWriter& response) {
  answer(response, [&](EventStream& events) {
    const HttpSession::Use use(session);
    const bool standalone = place.stream == 0;
    const std::uint64_t mine = standalone ? ++session->standalone_streams : 0;
    while (!stopping_ && !events.closed() && (!standalone || session->standalone_streams == mine)) {
      const EventLog::Batch batch = session->log.after(place, kEndCheckInterval);
      for (const EventLog::Event& event : batch.events) {
        events.send(event.data, event_id(event.place));
        place = event.place;
        if (standalone) session->standalone_delivered = place.number;
      }
      if (batch.ended) return;
    }
  });
}

}  // namespace assay::mcp
