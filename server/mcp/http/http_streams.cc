#include "server/mcp/http/http_streams.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::mcp {
namespace {

/// The server tells a client to wait for this time before it reconnects to get the rest of a
/// stream.
constexpr std::chrono::milliseconds kRetry{500};
/// The first revision in which the server sends an event without content at the start of a stream.
/// Clients of older revisions would take this event for a message.
constexpr std::string_view kPrimingSince = "2025-11-25";

}  // namespace

void HttpStreams::answer(
    ResponseWriter& response,
    const std::function<void(EventStream&, const std::stop_source& end)>& write) {
  Connection& connection = response.connection();
  response.begin_stream();
  const std::stop_source end;
  EventStream events([&](const std::string& bytes) { return response.send(bytes); },
                     [&] {
                       // The call still runs, so the client must not send its next request on this
                       // connection. Therefore the server closes its sending direction.
                       response.end_stream();
                       connection.stop_writing();
                     },
                     end, dispatcher_.clock());
  watch_hang_up_(connection, end);
  {
    const Listed listed(*this, {events, connection, end});
    write(events, end);
  }
  if (events.ended())
    response.give_up_connection();
  else
    response.end_stream();
}

HttpStreams::Listed::Listed(HttpStreams& owner, Open stream) : owner_(owner) {
  std::stop_source end = stream.end;
  bool ended = false;
  {
    const MutexLock lock(owner_.mutex_);
    place_ = owner_.streams_.insert(owner_.streams_.end(), std::move(stream));
    ended = owner_.ended_;
  }
  // The mutex is not locked here, because request_stop() runs callbacks of the handlers, which may
  // use this object.
  if (ended) end.request_stop();
}

HttpStreams::Listed::~Listed() {
  const MutexLock lock(owner_.mutex_);
  owner_.streams_.erase(place_);
}

int HttpStreams::open() const {
  const MutexLock lock(mutex_);
  return static_cast<int>(streams_.size());
}

void HttpStreams::keep_alive() {
  const MutexLock lock(mutex_);
  for (const Open& stream : streams_) {
    if (stream.connection.writable()) stream.events.keep_alive();
  }
}

void HttpStreams::end() {
  std::vector<std::stop_source> ends;
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    for (const Open& stream : streams_) ends.push_back(stream.end);
  }
  for (std::stop_source& end : ends) end.request_stop();
}

void HttpStreams::answer_call(const Call& call, const std::shared_ptr<HttpSession>& session,
                              ResponseWriter& response) {
  const bool listens = call.resolved.execution == ExecutionClass::lasting;
  const ShareLimiter::Pass place =
      listens ? listeners_.enter(call.transport.principal()) : ShareLimiter::Pass();
  if (listens && !place) return response.reply(busy_reply(place.refusal(), "streams are open"));
  answer(response, [&](EventStream& events, const std::stop_source& end) {
    TransportContext transport = call.transport;
    transport.hung_up = end.get_token();
    std::optional<HttpSession::Use> use;
    EventLog::Place start;
    std::function<void(const nlohmann::json&)> send = [&events](const nlohmann::json& message) {
      events.send(dump(message));
    };
    if (session) {  // the session keeps the events for a client that reconnects
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

void HttpStreams::answer_events(ResponseWriter& response, const WriteEvents& write) {
  answer(response, [&](EventStream& events, const std::stop_source& end) {
    write([&events](std::string_view data) { events.send(data); }, end.get_token());
  });
}

void HttpStreams::resume(const std::shared_ptr<HttpSession>& session, EventLog::Place place,
                         ResponseWriter& response) {
  const ShareLimiter::Pass listener = listeners_.enter(session->principal);
  if (!listener) return response.reply(busy_reply(listener.refusal(), "streams are open"));
  answer(response, [&](EventStream& events, const std::stop_source& end) {
    const HttpSession::Use use(session);
    const bool standalone = place.stream == 0;
    if (standalone) session->replace_standalone_stream(end);
    const std::stop_token stop = end.get_token();
    while (!stop.stop_requested()) {
      const EventLog::Batch batch = session->log.wait_after(place, stop);
      for (const EventLog::Event& event : batch.events) {
        events.send(event.data, event_id(event.place));
        place = event.place;
        if (standalone) session->standalone_delivered = place.number;
      }
      if (batch.ended) return;
    }
  });
}

void HttpStreams::send_page_events(HttpPages& pages, const std::string& principal,
                                   ResponseWriter& response) {
  const ShareLimiter::Pass listener = listeners_.enter(principal);
  if (!listener) return response.reply(busy_reply(listener.refusal(), "streams are open"));
  answer(response, [&](EventStream& events, const std::stop_source& end) {
    pages.send_events(
        principal, [&events](std::string_view data) { events.send(data); }, end.get_token());
  });
}

}  // namespace assay::mcp
