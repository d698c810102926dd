// Starts a real assay-launcher process for a test, with its socket. The destructor kills the
// process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/launcher/plan/plan.h"
#include "sandbox/wire/frame.h"
#include "sandbox/wire/memfd.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_writer.h"

namespace assay::sandbox::test {

inline std::string launcher_path() { return std::string(ASSAY_BINARY_DIR) + "/bin/assay-launcher"; }

class LauncherProcess {
 public:
  explicit LauncherProcess(const std::string& driver, std::int64_t answer_ms = 60'000,
                           const std::vector<std::string>& options = {},
                           const std::string& program = launcher_path(),
                           const std::string& output = "")  // a file for the standard output
      : answer_ms_(answer_ms) {
    Result<SocketPair> pair = make_socket_pair();
    REQUIRE(pair);
    socket_ = std::move(pair->ours);
    std::vector<std::string> command = {
        program,    "--socket-fd", std::to_string(pair->theirs.get()), "--device", "cuda:0",
        "--driver", driver};
    command.insert(command.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    REQUIRE(::access(argv[0], X_OK) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::fcntl(pair->theirs.get(), F_SETFD, 0);
      if (!output.empty() &&
          ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO) < 0)
        ::_exit(127);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  LauncherProcess(const LauncherProcess&) = delete;
  LauncherProcess& operator=(const LauncherProcess&) = delete;
  ~LauncherProcess() {
    if (pid_ > 0) kill_and_reap();
  }

  Result<Frame> receive() { return receive_frame(socket_.get(), Deadline::after_ms(answer_ms_)); }
  /// Receives the message `ready`.
  nlohmann::json ready() {
    Result<Frame> frame = receive();
    REQUIRE(frame);
    REQUIRE(frame->type() == "ready");
    return frame->header["device"];
  }
  int socket() const { return socket_.get(); }
  pid_t pid() const { return pid_; }

  /// Kills the process and returns its wait status.
  int kill_and_reap() {
    ::kill(pid_, SIGKILL);
    return reap();
  }
  /// Waits until the process has ended, and returns its wait status.
  int reap() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  void close_socket() { socket_.reset(); }

 private:
  UniqueFd socket_;
  pid_t pid_ = -1;
  std::int64_t answer_ms_;
};

/// One launch: named inputs in one sealed memory file, and memory for the outputs.
struct LaunchCase {
  std::vector<std::pair<std::string, std::vector<float>>> inputs;
  std::uint64_t output_bytes = 1 << 16;
  std::uint64_t gpu_memory_bytes = 1ULL << 30;
  bool time = false, inspect = false, stage_next_inputs = false, returns_outputs = true;
  std::int64_t min_samples = 30, max_samples = 500, max_time_ms = 2'000;
  UniqueFd output;

  /// Sends the `launch` message. Does not wait for the answer.
  void send(LauncherProcess& launcher, const std::string& plan) {
    std::string bytes;
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [name, values] : inputs) {
      bytes.resize((bytes.size() + 255) / 256 * 256);
      list.push_back({{"name", name},
                      {"fd", 0},
                      {"offset", bytes.size()},
                      {"nbytes", values.size() * sizeof(float)},
                      {"inout", false}});
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    }
    Result<UniqueFd> input = create_sealed_memfd("inputs", bytes);
    REQUIRE(input);
    Result<UniqueFd> room = create_memfd("outputs", output_bytes);
    REQUIRE(room);
    output = std::move(*room);
    const nlohmann::json header = {{"type", "launch"},
                                   {"case", "c"},
                                   {"inputs", list},
                                   {"output_fd", 1},
                                   {"output_offset", 0},
                                   {"output_bytes", output_bytes},
                                   {"device_bytes", 0},
                                   {"ablated", false},
                                   {"inspect", inspect},
                                   {"stage_next_inputs", stage_next_inputs},
                                   {"returns_outputs", returns_outputs},
                                   {"time", time},
                                   {"min_samples", min_samples},
                                   {"max_samples", max_samples},
                                   {"max_time_ms", max_time_ms},
                                   {"gpu_memory_bytes", gpu_memory_bytes}};
    REQUIRE(send_frame(launcher.socket(), header, plan, {input->get(), output.get()},
                       Deadline::after_ms(60'000)));
  }
  nlohmann::json run(LauncherProcess& launcher, const std::string& plan) {
    send(launcher, plan);
    Result<Frame> answer = launcher.receive();
    INFO((answer ? "" : answer.error().message));
    REQUIRE(answer);
    return answer->header;
  }
  nlohmann::json run(LauncherProcess& launcher, const Plan& plan) {
    return run(launcher, encode_plan(plan));
  }

  /// Returns the float values of an output that the answer describes.
  std::vector<float> floats(const nlohmann::json& descriptor) const {
    Result<Mapping> memory = Mapping::map(output.get(), output_bytes, true);
    REQUIRE(memory);
    std::vector<float> values(descriptor["nbytes"].get<std::size_t>() / sizeof(float));
    std::memcpy(values.data(), memory->data() + descriptor["offset"].get<std::size_t>(),
                values.size() * sizeof(float));
    return values;
  }
};

/// Returns a case with two different inputs of n floats each.
inline LaunchCase vector_add_case(std::uint32_t n) {
  LaunchCase one;
  std::vector<float> x, y;
  for (std::uint32_t i = 0; i < n; ++i) {
    x.push_back(static_cast<float>(i % 1000) * 0.25f);
    y.push_back(static_cast<float>(i % 77) - 30.0f);
  }
  one.inputs = {{"x", x}, {"y", y}};
  one.output_bytes = std::max<std::uint64_t>(n * 4ULL, 4096);
  return one;
}

inline void check_sums(const LaunchCase& one, const nlohmann::json& answer) {
  INFO(answer.dump().substr(0, 2000));
  REQUIRE(answer["type"] == "launched");
  const std::vector<float> sums = one.floats(answer["outputs"][0]);
  const std::vector<float>& x = one.inputs[0].second;
  const std::vector<float>& y = one.inputs[1].second;
  REQUIRE(sums.size() == x.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += sums[i] != x[i] + y[i] ? 1 : 0;
  CHECK(wrong == 0);
}

}  // namespace assay::sandbox::test
