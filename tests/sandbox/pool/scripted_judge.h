// ScriptedJudge is a judge's process for tests: a thread answers the requests as the test wants. It
// stands for the judge of an imported suite, so it is not trusted.
//
//   ScriptedJudge::Log log;
//   Judge judge(std::make_unique<ScriptedJudge>(log, [](int socket, const nlohmann::json& request)
//   {
//     ScriptedJudge::send(socket, {{"type", "settled"}, {"job", request.at("job")}});
//   }));
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "sandbox/pool/judge.h"
#include "sandbox/wire/frame.h"
#include "tests/catch.h"

namespace assay::sandbox::testing {

class ScriptedJudge final : public JudgeProcess {
 public:
  /// Answers a request by sending frames to the socket, or does not answer. It must return if a
  /// frame cannot be sent.
  using Script = std::function<void(int socket, const nlohmann::json& request)>;
  /// Counts the starts and the ends of running processes.
  struct Log {
    std::atomic<int> starts = 0, stops = 0;
  };

  ScriptedJudge(Log& log, Script script) : log_(log), script_(std::move(script)) {}
  ~ScriptedJudge() override { stop(); }

  static bool send(int socket, const nlohmann::json& frame) {
    return send_frame(socket, frame, {}, {}, Deadline::never()).has_value();
  }

  Result<JudgeReady> start(const Deadline&) override {
    stop();
    Result<SocketPair> pair = make_socket_pair();
    if (!pair) return fail(pair.error());
    sockets_ = std::move(*pair);
    ++log_.starts;
    thread_ = std::thread([this] {
      while (true) {
        const Result<Frame> request = receive_frame(sockets_.theirs.get(), Deadline::never());
        if (!request) return;
        script_(sockets_.theirs.get(), request->header);
      }
    });
    return JudgeReady{};
  }
  bool alive() override { return thread_.joinable(); }
  int socket() const override { return sockets_.ours.get(); }
  std::optional<std::string> how_it_ended() override { return std::nullopt; }
  void stop() override {
    if (!thread_.joinable()) return;
    ++log_.stops;
    ::shutdown(sockets_.ours.get(), SHUT_RDWR);
    thread_.join();
    sockets_ = {};
  }
  const std::string& device() const override { return device_; }
  bool is_trusted() const override { return false; }

 private:
  Log& log_;
  const Script script_;
  const std::string device_ = "cpu";
  SocketPair sockets_;
  std::thread thread_;
};

}  // namespace assay::sandbox::testing
