#include "server/mcp/stdio/stdio_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "base/concurrency_limiter.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/stderr_line.h"
#include "base/unique_fd.h"
#include "base/worker_pool.h"
#include "server/mcp/core/dispatch.h"
#include "server/mcp/core/session.h"
#include "server/mcp/stdio/lines.h"

namespace assay::mcp {
namespace {

constexpr const char* kScope = "stdio";
constexpr int kExitInternal = 70;

/// The state that all threads of a server on stdio share.
struct Conversation {
  Conversation(Server& server, int out_in, const StdioLimits& limits)
      : dispatcher(server.dispatcher()),
        out(out_in),
        client(std::make_shared<Session>(kScope,
                                         [this](const nlohmann::json& message) { send(message); })),
        changes(dispatcher.join(*client)),
        places(static_cast<int>(limits.subscriptions)),
        pool(limits.threads, limits.waiting),
        subscriptions(limits.subscriptions, limits.subscriptions) {}

  void send(const nlohmann::json& message) {
    const std::string line = dump(message);
    {
      const MutexLock lock(out_mutex);
      if (broken() || write_line(out, line)) return;
    }
    // The write failed, so the client no longer reads from the pipe. Therefore all its calls are
    // cancelled. The mutex is not locked here, because both calls run callbacks of the handlers.
    dispatcher.end_scope(kScope);
    gone.request_stop();
  }

  /// Returns true when the client no longer reads.
  bool broken() const { return gone.stop_requested(); }

  void answer(const ResolvedCall& call, const InFlight::Ticket* ticket) {
    TransportContext transport;
    transport.scope = kScope;
    transport.notify = [this](const nlohmann::json& notification) { send(notification); };
    transport.hung_up = gone.get_token();
    transport.ticket = ticket;
    transport.session = client;
    const Outcome outcome = dispatcher.handle(call, transport);
    if (outcome.response && !outcome.cancelled) send(*outcome.response);
  }

  Dispatcher& dispatcher;
  const int out;
  Mutex out_mutex;
  std::stop_source gone;
  // Only a session-based client has a session. A stateless client leaves this object unused.
  const std::shared_ptr<Session> client;
  const ChangeNotifier::Listener changes;
  ConcurrencyLimiter places;
  WorkerPool pool,
      subscriptions;  // last members: their destructors wait for threads that use the members above
};

void take(Conversation& session, Message message) {
  ResolvedCall call = session.dispatcher.resolve(std::move(message));
  const ExecutionClass execution = call.execution;
  if (execution == ExecutionClass::at_once) {
    session.answer(call, nullptr);
    return;
  }
  // The ticket is opened here, before the call may have to wait for a thread. So if the client
  // cancels the call later, the cancellation finds the call even while it waits.
  auto ticket = std::make_shared<InFlight::Ticket>(session.dispatcher.admit(call, kScope));
  const nlohmann::json id = call.message.id;
  if (execution == ExecutionClass::lasting) {
    auto place = std::make_shared<ConcurrencyLimiter::Pass>(session.places.enter());
    const bool accepted =
        *place && session.subscriptions.submit([&session, ticket, place, call = std::move(call)] {
          session.answer(call, ticket.get());
        });
    if (!accepted)
      session.send(make_error(id, kInternalError,
                              "too many subscriptions; end some, or ask for more in one"));
    return;
  }
  const bool accepted = session.pool.submit(
      [&session, ticket, call = std::move(call)] { session.answer(call, ticket.get()); });
  if (!accepted)
    session.send(make_error(id, kInternalError,
                            "too many calls are waiting; retry when some have been answered"));
}

/// Returns true when the other end of the pipe `out` is closed.
bool reader_gone(int out) {
  pollfd entry{out, 0, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

bool finish(Conversation& session, const StdioLimits& limits, const StdioStop& stop) {
  constexpr std::chrono::milliseconds kStep{20};
  for (auto waited = std::chrono::milliseconds{0};
       waited < limits.drain && !session.broken() && !reader_gone(session.out) &&
       !stop.now.stop_requested() && !stop.soon.stop_requested();
       waited += kStep) {
    if (session.pool.wait_idle(kStep)) break;
  }
  session.dispatcher.end_scope(kScope);
  const Clock& clock = session.dispatcher.clock();
  const std::int64_t until_ns =
      clock.monotonic_ns() + std::chrono::nanoseconds(limits.cancel).count();
  if (!session.pool.wait_idle(limits.cancel)) return false;
  const std::int64_t left_ms =
      std::max<std::int64_t>(0, (until_ns - clock.monotonic_ns()) / kNsPerMs);
  return session.subscriptions.wait_idle(std::chrono::milliseconds(left_ms));
}

}  // namespace

bool serve_lines(Server& server, int in, int out, const StdioLimits& limits,
                 const StdioStop& stop) {
  auto session = std::make_unique<Conversation>(server, out, limits);
  // Without the eventfd, which needs a free descriptor, a stop takes effect at the end of input.
  const UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback wake_reader(
      stop.now, [&wake] { static_cast<void>(::eventfd_write(wake.get(), 1)); });
  LineReader reader(in, kMaxMessageBytes, wake.get());
  while (auto line = reader.next()) {
    if (line->oversize) {
      session->send(make_error(nullptr, kInvalidRequest,
                               "the message is longer than the limit of " +
                                   std::to_string(kMaxMessageBytes) + " bytes"));
      continue;
    }
    auto message = parse_message(line->text);
    if (message)
      take(*session, std::move(*message));
    else
      session->send(message.error());
  }
  if (finish(*session, limits, stop)) return true;
  log::warning("calls did not end after the end of input",
               {{"calls", session->dispatcher.in_flight()}});
  static_cast<void>(session.release());  // deliberately leaked, because its threads still use it
  return false;
}

int serve_stdio(Server& server, const StdioStop& stop) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
  // stdin and stdout of the process move to other descriptors. After that, the text that a library
  // or a child process prints goes to stderr, and a read of stdin gets the end of input.
  const UniqueFd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!in || !out || !null) {
    stderr_line("assay: --stdio needs an open stdin and stdout");
    return kExitInternal;
  }
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) ::dup2(null.get(), STDERR_FILENO);
  std::fflush(stdout);
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (!serve_lines(server, in.get(), out.get(), {}, stop)) ::_exit(kExitInternal);
  return 0;
}

}  // namespace assay::mcp
