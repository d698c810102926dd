// Fuzzes the messages between the processes of the sandbox. The frame reader reads the bytes, and
// the parsers of all messages parse each frame, as if any process could send any message. A
// candidate is hostile. The other processes are trusted, but they handle data of untrusted code.
//
// For any bytes there must be no crash and no undefined behaviour. A refused stream must stay
// refused. A candidate must not be able to send a message of the judge. A frame must be read in the
// same way when it is sent again.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox/pool/messages.h"
#include "sandbox/wire/frame.h"
#include "sandbox/wire/launch_reply.h"
#include "sandbox/wire/launch_request.h"

namespace {

using namespace assay;
using namespace assay::sandbox;

void must(bool holds) {
  if (!holds) std::abort();
}

/// Returns the receiving end of a socket pair. The other end has sent `bytes` and is closed.
UniqueFd stream_of(std::string_view bytes) {
  int ends[2];
  must(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  const UniqueFd sender(ends[1]);
  must(::send(sender.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) ==
       static_cast<ssize_t>(bytes.size()));
  return UniqueFd(ends[0]);
}

Frame copy_of(const Frame& frame) { return {frame.header, frame.payload, {}}; }

void check_candidate(const Frame& frame) {
  Frame copy = copy_of(frame);
  const Result<CandidateMessage> message = parse_candidate(copy);
  if (!message) return;
  const auto* error = std::get_if<CandidateError>(&*message);
  if (error == nullptr) return;
  for (const ErrorKind judged :
       {ErrorKind::none, ErrorKind::wrong_result, ErrorKind::cancelled, ErrorKind::reference_error,
        ErrorKind::device_unhealthy, ErrorKind::internal_error})
    must(error->kind != judged);
}

void check_all(const Frame& frame) {
  check_candidate(frame);
  (void)parse_zygote(frame);
  (void)parse_judge_ready(frame);
  (void)parse_prepared(frame);
  (void)parse_compared(frame);
  (void)parse_timed_reference(frame);
  (void)parse_linted(frame);
  (void)parse_launcher_ready(frame);
  (void)parse_launched(frame);
  (void)parse_launch_failure(frame);
  (void)parse_primed(frame);
  (void)parse_judge_error(frame);
  (void)answers(frame, "job", "case");
  (void)parse_launch_request(frame);
  (void)parse_sample_request(frame);
  (void)parse_launcher_probe(frame.payload);
}

void check_again(const Frame& frame) {
  SocketPair pair = *make_socket_pair();
  const Deadline now = Deadline::after_ms(1'000);
  must(send_frame(pair.ours.get(), frame.header, frame.payload, {}, now).has_value());
  const Result<Frame> again = receive_frame(pair.theirs.get(), now);
  must(again && again->header == frame.header && again->payload == frame.payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const UniqueFd socket = stream_of({reinterpret_cast<const char*>(data), size});
  FrameReceiver receiver(socket.get());
  while (true) {
    const FrameReceiver::State state = receiver.receive();
    if (state == FrameReceiver::State::again) continue;
    if (state != FrameReceiver::State::frame) {
      must(state == FrameReceiver::State::closed || !receiver.message().empty());
      must(receiver.receive() == state);
      return 0;
    }
    const Frame frame = receiver.take();
    must(!frame.type().empty() || frame.header.at("type") == "");
    check_all(frame);
    check_again(frame);
  }
}
