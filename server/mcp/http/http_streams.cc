#include "server/mcp/http/http_streams.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::mcp {
namespace {

/// How often a stream that carries somebody else's events asks whether it has ended.
constexpr std::chrono::milliseconds kStreamLook{200};
/// What a client is told to wait before it comes back for the rest of a stream.
constexpr std::chrono::milliseconds kRetry{500};
/// Older clients take an event without content for a message.
constexpr std::string_view kPrimingSince = "2025-11-25";

}  // namespace

void HttpStreams::answer(httplib::Response& response, Connection& connection,
                         std::shared_ptr<ConcurrencyLimiter::Pass> place,
                         std::function<void(EventStream&)> write) {
  auto seat = std::make_shared<ConcurrencyLimiter::Pass>(seats_.enter());
  if (!*seat) return write_reply(response, busy_reply("too many open streams"));
  response.set_header("X-Accel-Buffering", "no");
  response.set_header("Cache-Control", "no-cache");
  response.set_chunked_content_provider(
      "text/event-stream",
      [place = std::move(place), seat = std::move(seat), write = std::move(write), &connection](
          std::size_t, httplib::DataSink& sink) {
        connection.flush();  // the headers: they tell the client that its call runs
        EventStream events(
            [&](const std::string& bytes) {
              return sink.write(bytes.data(), bytes.size()) && connection.flush();
            },
            [&] {  // before the call is over: the client must not send its next request here, where
                   // nobody listens
              sink.done();
              connection.flush();
              connection.stop_writing();
            },
            [&] { return connection.hung_up(); });
        write(events);
        if (events.ended()) return false;  // the connection is of no more use
        sink.done();
        return true;
      });
}

void HttpStreams::answer_call(Call call, std::shared_ptr<HttpSession> session,
                              std::shared_ptr<ConcurrencyLimiter::Pass> place,
                              Connection& connection, httplib::Response& response) {
  auto shared = std::make_shared<Call>(std::move(call));
  answer(response, connection, std::move(place),
         [this, shared, session = std::move(session)](EventStream& events) {
           TransportContext transport = shared->transport;
           transport.hung_up = [this, &events] { return stopping_.load() || events.closed(); };
           std::optional<HttpSession::Use> use;
           EventLog::Place start;
           std::function<void(const nlohmann::json&)> send =
               [&events](const nlohmann::json& message) { events.send(dump(message)); };
           if (session) {  // what the client misses it can have later
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
           const Outcome outcome = dispatcher_.handle(shared->resolved, transport);
           if (outcome.response && !outcome.cancelled) send(*outcome.response);
           if (session) session->log.finish(start.stream);
         });
}

void HttpStreams::resume(std::shared_ptr<HttpSession> session, EventLog::Place place,
                         Connection& connection, httplib::Response& response) {
  answer(response, connection, nullptr,
         [this, session = std::move(session), place](EventStream& events) mutable {
           const HttpSession::Use use(session);
           const bool standalone = place.stream == 0;
           const std::uint64_t mine = standalone ? ++session->standalone_streams : 0;
           while (!stopping_ && !events.closed() &&
                  (!standalone || session->standalone_streams == mine)) {
             const EventLog::Batch batch = session->log.after(place, kStreamLook);
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
