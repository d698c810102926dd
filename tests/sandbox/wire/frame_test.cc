#include "sandbox/wire/frame.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <string>
#include <thread>

#include "sandbox/wire/memfd.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

SocketPair pair() {
  Result<SocketPair> made = make_socket_pair();
  REQUIRE(made);
  return std::move(*made);
}

std::string prefix(std::uint32_t header, std::uint64_t payload, const std::string& magic = "ASY1") {
  std::string bytes = magic;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(header >> (8 * i)));
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(payload >> (8 * i)));
  return bytes;
}

/// Returns the error of a receiver that receives these bytes and then the end of the stream.
Error rejected(const std::string& bytes) {
  SocketPair sockets = pair();
  REQUIRE(::send(sockets.ours.get(), bytes.data(), bytes.size(), 0) ==
          static_cast<ssize_t>(bytes.size()));
  sockets.ours.reset();
  Result<Frame> frame = receive_frame(sockets.theirs.get(), Deadline::after_ms(60'000));
  REQUIRE_FALSE(frame);
  return frame.error();
}

}  // namespace

TEST_CASE("a frame arrives as it was sent, with its descriptors") {
  SocketPair sockets = pair();
  Result<UniqueFd> file = create_sealed_memfd("test", "tensor bytes");
  REQUIRE(file);
  REQUIRE(send_frame(sockets.ours.get(), {{"type", "case"}, {"id", "small"}},
                     std::string("\0\1payload", 9), {file->get()}, Deadline::after_ms(60'000)));
  REQUIRE(send_frame(sockets.ours.get(), {{"type", "done"}}, "", {}, Deadline::after_ms(60'000)));
  Result<Frame> frame = receive_frame(sockets.theirs.get(), Deadline::after_ms(60'000));
  REQUIRE(frame);
  CHECK(frame->type() == "case");
  CHECK(frame->header["id"] == "small");
  CHECK(frame->payload == std::string("\0\1payload", 9));
  REQUIRE(frame->fds.size() == 1);
  CHECK(check_foreign_memfd(frame->fds[0].get()).value() == 12);
  Result<Frame> next = receive_frame(sockets.theirs.get(), Deadline::after_ms(60'000));
  REQUIRE(next);
  CHECK(next->type() == "done");
  CHECK(next->fds.empty());
}

TEST_CASE("a frame larger than the socket's buffer is sent and received piecewise") {
  SocketPair sockets = pair();
  const std::string payload(8U << 20, 'x');
  std::thread sender([&] {
    CHECK(send_frame(sockets.ours.get(), {{"type", "plan"}}, payload, {},
                     Deadline::after_ms(60'000)));
  });
  Result<Frame> frame = receive_frame(sockets.theirs.get(), Deadline::after_ms(60'000));
  sender.join();
  REQUIRE(frame);
  CHECK(frame->payload == payload);
}

TEST_CASE("each way in which a conversation ends has an error code of its own") {
  CHECK(rejected("").code == ErrorCode::unavailable);
  CHECK(rejected("ASY").code == ErrorCode::io);
  CHECK(rejected(prefix(20, 0) + "{\"type\"").code == ErrorCode::io);
  CHECK(rejected(prefix(15, 9) + "{\"type\":\"case\"}1234").code == ErrorCode::io);
  CHECK(rejected(prefix(2, 0, "HTTP") + "{}").code == ErrorCode::corrupt);
}

TEST_CASE("sizes are checked against their caps before the bytes arrive") {
  CHECK(rejected(prefix(kMaxHeaderBytes + 1, 0)).code == ErrorCode::corrupt);
  CHECK(rejected(prefix(2, kMaxPayloadBytes + 1) + "{}").code == ErrorCode::corrupt);
  CHECK(rejected(prefix(0xffffffff, ~0ULL)).code == ErrorCode::corrupt);
}

TEST_CASE("a header must be a JSON object with a string type, not nested too deeply") {
  for (const std::string text : {"", "[]", "{}", "{\"type\":1}", "{\"type\":\"a\"", "nan",
                                 "{\"type\":\"\xff\"}", "{\"type\":\"a\"}x"}) {
    INFO(text);
    CHECK(rejected(prefix(static_cast<std::uint32_t>(text.size()), 0) + text).code ==
          ErrorCode::corrupt);
  }
  const auto nested = [](int depth) {
    return "{\"type\":\"a\",\"x\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(parse_header(nested(kMaxHeaderNesting - 1), kTrustedHeader.values));
  CHECK_FALSE(parse_header(nested(kMaxHeaderNesting), kTrustedHeader.values));
  CHECK_FALSE(parse_header(nested(1'000'000), kTrustedHeader.values));
  CHECK(parse_header("{\"type\":\"" + std::string(100, '[') + "\\\"{\"}", kTrustedHeader.values));
}

TEST_CASE("the values of a header are counted in its text, without the contents of strings") {
  CHECK(shape_of("1").values == 1);
  CHECK(shape_of(R"({"a":1,"b":[2,3],"c":{}})").values >= 6);
  CHECK(shape_of(R"({"a":"[,{,\",[,"})").values == 2);
  const auto wide = [](std::size_t arrays) {
    std::string text = R"({"type":"case","outputs":[[])";
    for (std::size_t i = 1; i < arrays; ++i) text += ",[]";
    return text + "]}";
  };
  CHECK(parse_header(wide(10), 32));
  const Result<nlohmann::json> refused = parse_header(wide(1'000), 1'000);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the header has more than 1000 values");
}

TEST_CASE(
    "the header of a candidate has lower caps for bytes and values than that of a trusted "
    "process") {
  const auto received = [](std::string header, HeaderCaps caps) {
    SocketPair sockets = pair();
    const std::string bytes = prefix(static_cast<std::uint32_t>(header.size()), 0) + header;
    std::thread sender(
        [&] { ::send(sockets.ours.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    FrameReceiver receiver(sockets.theirs.get(), caps);
    FrameReceiver::State state = FrameReceiver::State::again;
    while ((state = receiver.receive()) == FrameReceiver::State::again) {
      std::array<pollfd, 1> entries{{{sockets.theirs.get(), POLLIN, 0}}};
      poll_until(entries, Deadline::after_ms(60'000));
    }
    sockets.theirs.reset();
    sender.join();
    return state;
  };
  const std::string long_text = R"({"type":")" + std::string(kCandidateHeader.bytes, 'x') + "\"}";
  CHECK(received(long_text, kCandidateHeader) == FrameReceiver::State::malformed);
  CHECK(received(long_text, kTrustedHeader) == FrameReceiver::State::frame);
  std::string many = R"({"type":"case","samples":[0)";
  for (std::size_t i = 0; i < kCandidateHeader.values; ++i) many += ",0";
  many += "]}";
  REQUIRE(many.size() < kCandidateHeader.bytes);
  CHECK(received(many, kCandidateHeader) == FrameReceiver::State::malformed);
  CHECK(received(many, kTrustedHeader) == FrameReceiver::State::frame);
}

TEST_CASE("a shortage of descriptors in this process is no fault of the peer") {
  SocketPair sockets = pair();
  Result<UniqueFd> file = create_memfd("test", 1);
  REQUIRE(file);
  REQUIRE(send_frame(sockets.ours.get(), {{"type", "case"}}, {}, {file->get(), file->get()},
                     Deadline::after_ms(60'000)));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  // dup() returns the lowest free number. So no number below the limit is free then.
  const int lowest = ::dup(file->get());
  REQUIRE(lowest >= 0);
  const rlimit full{static_cast<rlim_t>(lowest) + 1, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &full) == 0);
  FrameReceiver receiver(sockets.theirs.get());
  const FrameReceiver::State state = receiver.receive();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  ::close(lowest);
  CHECK(state == FrameReceiver::State::broken);
  CHECK(receiver.message() == "no room for descriptors (see `ulimit -n`)");
}

TEST_CASE("descriptors in the middle of a frame are refused") {
  SocketPair sockets = pair();
  const std::string start = prefix(15, 4) + "{\"type\":\"case\"}";
  REQUIRE(::send(sockets.ours.get(), start.data(), start.size(), 0) ==
          static_cast<ssize_t>(start.size()));
  Result<UniqueFd> file = create_memfd("test", 1);
  REQUIRE(file);
  REQUIRE(send_frame(sockets.ours.get(), {{"type", "inner"}}, "", {file->get()},
                     Deadline::after_ms(60'000)));
  Result<Frame> frame = receive_frame(sockets.theirs.get(), Deadline::after_ms(60'000));
  REQUIRE_FALSE(frame);
  CHECK(frame.error().code == ErrorCode::corrupt);
}

TEST_CASE("an endless stream does not keep its reader from its deadline") {
  SocketPair sockets = pair();
  const std::string start = prefix(20, 64U << 20) + R"({"type": "artifact"})";
  REQUIRE(::send(sockets.ours.get(), start.data(), start.size(), 0) ==
          static_cast<ssize_t>(start.size()));
  std::atomic<bool> stop{false};
  std::thread dripping([&] {
    while (!stop) ::send(sockets.ours.get(), "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  const auto since = std::chrono::steady_clock::now();
  const Result<Frame> frame = receive_frame(sockets.theirs.get(), Deadline::after_ms(200));
  stop = true;
  dripping.join();
  REQUIRE_FALSE(frame);
  CHECK(frame.error().code == ErrorCode::resource_exhausted);
  CHECK(std::chrono::steady_clock::now() - since < std::chrono::seconds(60));
}

TEST_CASE("a receiver and a sender stop waiting at the deadline") {
  SocketPair sockets = pair();
  CHECK(receive_frame(sockets.theirs.get(), Deadline::after_ms(20)).error().code ==
        ErrorCode::resource_exhausted);
  const std::string payload(32U << 20, 'x');
  CHECK(send_frame(sockets.ours.get(), {{"type", "plan"}}, payload, {}, Deadline::after_ms(50))
            .error()
            .code == ErrorCode::resource_exhausted);
}

TEST_CASE("a stop request ends the wait of a receiver and of a sender") {
  SocketPair sockets = pair();
  std::stop_source stop;
  const Deadline deadline = Deadline::after_ms(60'000, stop.get_token());
  std::future<ErrorCode> receiver = std::async(std::launch::async, [&] {
    return receive_frame(sockets.theirs.get(), deadline).error().code;
  });
  std::future<ErrorCode> sender = std::async(std::launch::async, [&] {
    const std::string payload(32U << 20, 'x');
    return send_frame(sockets.theirs.get(), {{"type", "plan"}}, payload, {}, deadline).error().code;
  });
  char first = 0;  // the sender has begun, but its payload does not fit into the socket's buffer
  REQUIRE(::recv(sockets.ours.get(), &first, 1, 0) == 1);
  stop.request_stop();
  CHECK(receiver.get() == ErrorCode::cancelled);
  CHECK(sender.get() == ErrorCode::cancelled);
  CHECK_FALSE(deadline.expired());
}

TEST_CASE("a sender refuses what the receiver would refuse") {
  SocketPair sockets = pair();
  const std::string text(kMaxHeaderBytes, 'x');
  CHECK(send_frame(sockets.ours.get(), {{"type", text}}, "", {}, Deadline::after_ms(50))
            .error()
            .code == ErrorCode::invalid_argument);
  sockets.theirs.reset();
  CHECK(send_frame(sockets.ours.get(), {{"type", "case"}}, "", {}, Deadline::after_ms(50))
            .error()
            .code == ErrorCode::unavailable);
}

TEST_CASE("memory files cannot be shrunk under a reader") {
  Result<UniqueFd> output = create_memfd("outputs", 4096);
  REQUIRE(output);
  CHECK(::ftruncate(output->get(), 0) != 0);
  CHECK(check_foreign_memfd(output->get()).value() == 4096);
  Result<Mapping> writable = Mapping::map(output->get(), 4096, true);
  REQUIRE(writable);
  writable->bytes()[7] = std::byte{42};
  Result<Mapping> readable = Mapping::map(output->get(), 4096, false);
  REQUIRE(readable);
  CHECK(readable->bytes()[7] == std::byte{42});
  Result<UniqueFd> input = create_sealed_memfd("inputs", "abc");
  REQUIRE(input);
  CHECK_FALSE(Mapping::map(input->get(), 3, true));
  SocketPair sockets = pair();
  CHECK(check_foreign_memfd(sockets.ours.get()).error().code == ErrorCode::corrupt);
}

TEST_CASE("a copy of a memory file keeps its contents and its holes") {
  constexpr std::uint64_t kBytes = 1U << 20;
  Result<UniqueFd> file = create_memfd("outputs", kBytes);
  REQUIRE(file);
  Result<Mapping> theirs = Mapping::map(file->get(), kBytes, true);
  REQUIRE(theirs);
  theirs->bytes()[7] = std::byte{42};
  theirs->bytes()[kBytes - 1] = std::byte{43};
  Result<UniqueFd> copy = copy_memfd(file->get(), "copy");
  REQUIRE(copy);
  theirs->bytes()[7] = std::byte{0};  // a process that has the original file cannot change the copy
  Result<Mapping> ours = Mapping::map(copy->get(), kBytes, false);
  REQUIRE(ours);
  CHECK(ours->bytes()[7] == std::byte{42});
  CHECK(ours->bytes()[8] == std::byte{0});
  CHECK(ours->bytes()[kBytes - 1] == std::byte{43});
  struct stat facts {};
  REQUIRE(::fstat(copy->get(), &facts) == 0);
  CHECK(facts.st_blocks * 512 < static_cast<std::int64_t>(kBytes) / 2);
  CHECK(check_foreign_memfd(copy->get()).value() == kBytes);
  CHECK(copy_memfd(create_memfd("empty", 0)->get(), "copy"));
  CHECK_FALSE(copy_memfd(pair().ours.get(), "copy"));
}
