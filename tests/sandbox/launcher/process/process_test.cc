// Tests the real launcher process with the fake driver, over a real socket.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "base/text.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/launcher_process.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::sandbox;
using test::LauncherProcess;

namespace {

constexpr std::uint32_t kFloats = 3000;

struct Ended {
  int status = 0;
  std::string text;
};

/// Runs the launcher with these arguments until it exits. The result's `text` contains the stdout
/// and stderr of the launcher.
Ended run_launcher(const std::string& arguments) {
  const std::string command =
      shell_word(test::launcher_path()) + " " + arguments + " 2>&1 </dev/null";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Ended ended;
  std::array<char, 4096> chunk{};
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe))
    ended.text.append(chunk.data(), n);
  ended.status = WEXITSTATUS(::pclose(pipe));
  return ended;
}

Plan kernel_plan(const std::string& kernel, std::vector<KernelParam> params) {
  Plan plan = test::vector_add_plan(kFloats, kernel);
  std::get<KernelOp>(plan.ops[0]).params = std::move(params);
  return plan;
}

}  // namespace

TEST_CASE(
    "the process sends ready, replays several cases on their own inputs, and ends when the socket "
    "is closed") {
  LauncherProcess launcher("fake");
  const nlohmann::json device = launcher.ready();
  CHECK(device["target"] == "cuda:90");
  CHECK(device["bandwidth_bytes_per_s"] > 0);
  for (const std::uint32_t n : {1u, 100u, kFloats}) {
    test::LaunchCase one = test::vector_add_case(n);
    const nlohmann::json answer = one.run(launcher, test::vector_add_plan(n));
    test::check_sums(one, answer);
    CHECK(answer["case"] == "c");
    CHECK(answer["kernels"][0]["launches"] == 1);
  }
  launcher.close_socket();
  const int status = launcher.reap();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a timed launch returns raw samples and their interval") {
  LauncherProcess launcher("fake");
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kFloats);
  one.time = true;
  const nlohmann::json answer = one.run(launcher, test::vector_add_plan(kFloats));
  test::check_sums(one, answer);
  CHECK(answer["samples_ns"].size() >= 30);
  CHECK(answer["low_ns"] <= answer["median_ns"]);
  CHECK(answer["median_ns"] <= answer["high_ns"]);
  CHECK_FALSE(answer.contains("timeline"));
  one.inspect = true;
  const nlohmann::json inspected = one.run(launcher, test::vector_add_plan(kFloats));
  REQUIRE(inspected["timeline"].size() == 1);
  CHECK(inspected["timeline"][0]["name"] == "fake_vector_add");
  CHECK(inspected["timeline"][0]["submitted"] == true);
  CHECK(inspected["deterministic"] == true);
}

TEST_CASE("a timed launch whose outputs nobody needs writes none") {
  LauncherProcess launcher("fake");
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kFloats);
  one.time = true;
  one.returns_outputs = false;
  const nlohmann::json answer = one.run(launcher, test::vector_add_plan(kFloats));
  CHECK(answer["samples_ns"].size() >= 30);
  for (const float value : one.floats(answer["outputs"][0])) REQUIRE(value == 0.0f);
}

TEST_CASE("a launch with stage_next_inputs waits for new inputs before its samples") {
  LauncherProcess launcher("fake");
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kFloats);
  one.time = one.stage_next_inputs = true;
  one.send(launcher, encode_plan(test::vector_add_plan(kFloats)));
  Result<Frame> primed = launcher.receive();
  REQUIRE(primed);
  CHECK(primed->header == nlohmann::json({{"type", "primed"}, {"case", "c"}}));
  REQUIRE(send_frame(launcher.socket(), {{"type", "sample"}}, {}, {}, Deadline::after_ms(60'000)));
  Result<Frame> answer = launcher.receive();
  REQUIRE(answer);
  test::check_sums(one, answer->header);
  CHECK(answer->header["first_run_ns"] == answer->header["samples_ns"][0]);

  one.send(launcher, encode_plan(test::vector_add_plan(kFloats)));
  REQUIRE(launcher.receive());
  REQUIRE(send_frame(launcher.socket(), {{"type", "launch"}}, {}, {}, Deadline::after_ms(60'000)));
  answer = launcher.receive();
  REQUIRE(answer);
  CHECK(answer->header["kind"] == "internal_error");
  CHECK(answer->header["message"].get<std::string>().find(
            "got a message `launch` where `sample` was due") != std::string::npos);
}

TEST_CASE(
    "each failure has its kind, and the process serves on after failures that leave the context "
    "usable") {
  LauncherProcess launcher("fake");
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kFloats);
  const auto fails = [&](const auto& plan, const std::string& kind) {
    const nlohmann::json answer = one.run(launcher, plan);
    INFO(answer.dump());
    CHECK(answer["type"] == "launch_error");
    CHECK(answer["kind"] == kind);
    CHECK(answer["message"].get<std::string>().size() > 10);
  };
  fails(std::string("garbage"), "invalid_plan");
  fails(encode_plan(test::vector_add_plan(kFloats)).substr(0, 200), "invalid_plan");
  fails(test::vector_add_plan(kFloats + 1), "invalid_plan");
  fails(kernel_plan("fake_vector_add", {NullParam{}}), "invalid_plan");
  fails(kernel_plan("fake_write_byte", {PointerParam{2, 0}, ScalarParam{8, kFloats * 4}}),
        "canary_violation");
  one.gpu_memory_bytes = 10'000;
  fails(test::vector_add_plan(kFloats), "gpu_memory_limit");
  one.gpu_memory_bytes = 8ULL << 30;
  Plan huge = test::vector_add_plan(kFloats);
  huge.buffers[2].bytes = 4ULL << 30;
  fails(huge, "gpu_memory_limit");
  one.output_bytes = 8;
  fails(test::vector_add_plan(kFloats), "invalid_plan");
  one.output_bytes = 1 << 16;
  test::check_sums(one, one.run(launcher, test::vector_add_plan(kFloats)));
}

TEST_CASE("after a fault every launch is answered with the loss of the context") {
  LauncherProcess launcher("fake");
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kFloats);
  nlohmann::json answer = one.run(launcher, kernel_plan("fake_illegal_address", {}));
  CHECK(answer["kind"] == "gpu_fault");
  answer = one.run(launcher, test::vector_add_plan(kFloats));
  CHECK(answer["kind"] == "gpu_fault");
  CHECK(answer["message"] == "the GPU context was lost in case 'c'");
}

TEST_CASE("killing the process ends an endless kernel") {
  LauncherProcess launcher("fake", 300);
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kFloats);
  one.send(launcher, encode_plan(kernel_plan("fake_endless", {})));
  const Result<Frame> answer = launcher.receive();
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::resource_exhausted);
  const int status = launcher.kill_and_reap();
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("a request that breaks the protocol ends the process with status 1") {
  LauncherProcess launcher("fake");
  launcher.ready();
  SECTION("an unknown message") {
    REQUIRE(send_frame(launcher.socket(), {{"type", "stop"}}, {}, {}, Deadline::after_ms(60'000)));
  }
  SECTION("a launch without fields") {
    REQUIRE(
        send_frame(launcher.socket(), {{"type", "launch"}}, {}, {}, Deadline::after_ms(60'000)));
  }
  SECTION("bytes that are no frame") {
    REQUIRE(::write(launcher.socket(), "GET / HTTP/1.1\r\n\r\n", 18) == 18);
  }
  const Result<Frame> answer = launcher.receive();
  CHECK_FALSE(answer);
  const int status = launcher.reap();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

TEST_CASE("an input outside its file is an internal error, not the submission's") {
  LauncherProcess launcher("fake");
  launcher.ready();
  Result<UniqueFd> file = create_sealed_memfd("inputs", std::string(64, 'x'));
  Result<UniqueFd> output = create_memfd("outputs", 4096);
  REQUIRE(file);
  REQUIRE(output);
  const nlohmann::json header = {
      {"type", "launch"},
      {"case", "c"},
      {"inputs", {{{"name", "x"}, {"fd", 0}, {"offset", 32}, {"nbytes", 64}, {"inout", false}}}},
      {"output_fd", 1},
      {"output_offset", 0},
      {"output_bytes", 4096},
      {"device_bytes", 0},
      {"ablated", false},
      {"time", false},
      {"gpu_memory_bytes", 1 << 20}};
  REQUIRE(send_frame(launcher.socket(), header, encode_plan(test::vector_add_plan(16)),
                     {file->get(), output->get()}, Deadline::after_ms(60'000)));
  const Result<Frame> answer = launcher.receive();
  REQUIRE(answer);
  CHECK(answer->header["kind"] == "internal_error");
  CHECK(answer->header["message"] ==
        "input x: 64 bytes from 32 on are outside its memory of 64 bytes");
}

TEST_CASE(
    "a launch over shared device memory writes its outputs there; a range outside is an internal "
    "error") {
  LauncherProcess launcher("fake");
  launcher.ready();
  constexpr std::uint64_t kBytes = 3 * 4096;
  Result<UniqueFd> file = create_memfd("shared", kBytes);
  REQUIRE(file);
  Result<Mapping> memory = Mapping::map(file->get(), kBytes, true);
  REQUIRE(memory);
  auto* floats = reinterpret_cast<float*>(memory->data());
  for (int i = 0; i < 16; ++i) floats[i] = static_cast<float>(i), floats[1024 + i] = 100.0f;
  nlohmann::json header = {
      {"type", "launch"},
      {"case", "c"},
      {"inputs",
       {{{"name", "x"}, {"fd", 0}, {"offset", 0}, {"nbytes", 64}, {"inout", false}},
        {{"name", "y"}, {"fd", 0}, {"offset", 4096}, {"nbytes", 64}, {"inout", false}}}},
      {"output_fd", 0},
      {"output_offset", 8192},
      {"output_bytes", 4096},
      {"device_bytes", kBytes},
      {"ablated", false},
      {"time", false},
      {"gpu_memory_bytes", 1 << 20}};
  const auto ask = [&] {
    REQUIRE(send_frame(launcher.socket(), header, encode_plan(test::vector_add_plan(16)),
                       {file->get()}, Deadline::after_ms(60'000)));
    const Result<Frame> answer = launcher.receive();
    REQUIRE(answer);
    return answer->header;
  };
  const nlohmann::json launched = ask();
  INFO(launched.dump());
  REQUIRE(launched["type"] == "launched");
  CHECK(launched["outputs"][0]["offset"] == 0);
  CHECK(floats[2048] == 100.0f);
  CHECK(floats[2048 + 15] == 115.0f);
  header["output_bytes"] = 4097;
  CHECK(ask()["message"] ==
        "outputs: 4097 bytes from 8192 on are outside its memory of 12288 bytes");
}

TEST_CASE("the process keeps no descriptor but its own, and leaves no core") {
  const UniqueFd leaked(::open("/dev/null", O_RDONLY));  // inherited: not close-on-exec
  LauncherProcess launcher("fake");
  launcher.ready();
  const std::string proc = "/proc/" + std::to_string(launcher.pid());
  // The process is not dumpable, so only root may list its descriptors.
  std::error_code refused;
  std::filesystem::directory_iterator descriptors(proc + "/fd", refused);
  CHECK(static_cast<bool>(refused) == (::geteuid() != 0));
  if (!refused) CHECK(std::distance(descriptors, {}) == 4);  // stdin, stdout, stderr, the socket
  rlimit core{};
  REQUIRE(::prlimit(launcher.pid(), RLIMIT_CORE, nullptr, &core) == 0);
  CHECK(core.rlim_max == 0);
}

TEST_CASE(
    "the process is jailed: it has no capability, cannot gain a privilege, and sees no network and "
    "no file of the host") {
  LauncherProcess launcher("fake");
  Result<Frame> ready = launcher.receive();
  REQUIRE(ready);
  const nlohmann::json& layers = ready->header["layers"];
  REQUIRE(layers.size() > 15);
  std::vector<std::string> missing;
  for (const nlohmann::json& layer : layers) {
    if (!layer["active"].get<bool>()) missing.push_back(layer["name"]);
  }
  if (::geteuid() != 0 || !missing.empty()) {
    WARN("this machine cannot build the whole jail; missing: " << nlohmann::json(missing).dump());
    return;
  }
  const std::string proc = "/proc/" + std::to_string(launcher.pid());
  const std::string status = read_small_file(proc + "/status");
  for (const char* line : {"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000",
                           "NoNewPrivs:\t1", "Seccomp:\t2"}) {
    INFO(line);
    CHECK(status.find(line) != std::string::npos);
  }
  CHECK(status.find("\nUid:\t0") == std::string::npos);
  CHECK(std::filesystem::exists(proc + "/root/usr"));
  CHECK_FALSE(std::filesystem::exists(proc + "/root/root"));
  CHECK_FALSE(std::filesystem::exists(proc + "/root/etc/passwd"));
  for (const char* name : {"net", "ipc", "mnt", "user", "uts"}) {
    INFO(name);
    CHECK(std::filesystem::read_symlink(proc + "/ns/" + name) !=
          std::filesystem::read_symlink(std::string("/proc/self/ns/") + name));
  }
}

TEST_CASE("the process dies with its parent") {
  std::array<int, 2> report{};
  REQUIRE(::pipe2(report.data(), O_CLOEXEC) == 0);
  Result<SocketPair> pair = make_socket_pair();
  REQUIRE(pair);
  const std::string path = test::launcher_path();
  const std::string fd = std::to_string(pair->theirs.get());
  const pid_t parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::fcntl(pair->theirs.get(), F_SETFD, 0);
      ::execl(path.c_str(), path.c_str(), "--socket-fd", fd.c_str(), "--device", "0", "--driver",
              "fake", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    const bool sent = ::write(report[1], &child, sizeof(child)) == sizeof(child);
    ::pause();
    ::_exit(sent ? 0 : 1);
  }
  pid_t child = 0;
  REQUIRE(::read(report[0], &child, sizeof(child)) == sizeof(child));
  pair->theirs.reset();
  const Result<Frame> ready = receive_frame(pair->ours.get(), Deadline::after_ms(60'000));
  REQUIRE(ready);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  // When the launcher ends, its end of the socket is closed. So the test's end reports the end of
  // the stream.
  const Result<Frame> gone = receive_frame(pair->ours.get(), Deadline::after_ms(60'000));
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ErrorCode::unavailable);
  ::close(report[0]);
  ::close(report[1]);
}

TEST_CASE("the probe prints one line of JSON, and its status says if there is a device") {
  const Ended fake = run_launcher("--probe --driver fake");
  CHECK(fake.status == 0);
  CHECK(nlohmann::json::parse(fake.text)["devices"].size() == 1);
  for (const char* driver : {"cuda", "hip"}) {
    const Ended real = run_launcher(std::string("--probe --driver ") + driver);
    const nlohmann::json found = nlohmann::json::parse(real.text);
    CHECK(real.status == (found["devices"].empty() ? 3 : 0));
    CHECK(found["reason"].get<std::string>().empty() != found["devices"].empty());
  }
}

TEST_CASE("wrong arguments get a message and status 2") {
  for (const auto& [arguments, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "--socket-fd and --device are needed"},
           {"--socket-fd 3 --device hip:x", "'x' is no number"},
           {"--socket-fd 3 --device gpu", "--device 'gpu' is no number from 0 up"},
           {"--socket-fd -1 --device 0", "--socket-fd '-1' is no number from 0 up"},
           {"--socket-fd", "--socket-fd needs a value"},
           {"--driver metal --probe", "driver 'metal' is unknown; valid: cuda, hip, emulated"},
           {"--what", "argument '--what' is unknown"}}) {
    const Ended ended = run_launcher(arguments);
    INFO(arguments << ": " << ended.text);
    CHECK(ended.status == 2);
    CHECK(ended.text.find(reason) != std::string::npos);
  }
  const Ended closed = run_launcher("--socket-fd 77 --device 0 --driver fake");
  CHECK(closed.status == 1);
  CHECK(closed.text.find("--socket-fd 77: Bad file descriptor") != std::string::npos);
}
