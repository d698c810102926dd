#include "sandbox/launcher/driver/emulated_driver.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sandbox/launcher/driver/hip_arguments.h"

namespace assay::sandbox {
namespace {

// The device's memory. It lies at the same address in both processes, so that an address in a
// kernel's arguments is valid in the emulator. A page uses memory only after it is first touched.
constexpr std::uint64_t kBase = 0x2000'0000'0000;
constexpr std::uint64_t kMemoryBytes = 64ULL << 30;
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::size_t kMostReplyBytes = 1 << 20;
constexpr int kReadyMs = 120'000;
constexpr int kMemoryFd = 3, kSocketFd = 4;  // the descriptors of the emulator

LaunchStatus lost(const std::string& why) {
  return launch_fail(LaunchErrorKind::gpu_fault, "running in the emulator: " + why);
}

std::byte* host(DevicePtr memory) {
  return reinterpret_cast<std::byte*>(memory);  // NOLINT(performance-no-int-to-ptr)
}

/// Receives one line, without its end. Returns an error if the emulator has ended.
Result<std::string> receive_line(int socket, int wait_ms) {
  std::string line;
  while (line.size() < kMostReplyBytes) {
    pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail_errno("poll of the emulator's socket");
    if (ready == 0) return fail(ErrorCode::unavailable, "the emulator did not answer in time");
    char byte = 0;
    const ssize_t got = ::recv(socket, &byte, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(ErrorCode::unavailable, "the emulator ended");
    if (byte == '\n') return line;
    line += byte;
  }
  return fail(ErrorCode::corrupt, "the emulator's answer is too long");
}

/// Sends one line, and receives one JSON object.
Result<nlohmann::json> ask(int socket, const std::string& line, int wait_ms) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t sent = ::send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail_errno("sending to the emulator");
    done += static_cast<std::size_t>(sent);
  }
  Result<std::string> reply = receive_line(socket, wait_ms);
  if (!reply) return fail(reply.error());
  nlohmann::json value = nlohmann::json::parse(*reply, nullptr, false);
  if (!value.is_object()) return fail(ErrorCode::corrupt, "the emulator's answer is no object");
  return value;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

class EmulatedDriver final : public GpuDriver {
 public:
  explicit EmulatedDriver(EmulatorProcess emulator)
      : socket_(std::move(emulator.socket)), arguments_(hip::kHipArgumentRoomBytes) {
    facts_.name = "emulator: " + emulator.name;
    facts_.target = emulator.target;
    facts_.driver = "emulated";
    facts_.sms = 1;
    facts_.l2_bytes = 1 << 20;
    facts_.memory_bytes = static_cast<std::int64_t>(kMemoryBytes);
    facts_.clock_khz = 1'000'000;
    facts_.bandwidth_bytes_per_s = 1'000'000'000'000;
  }

  EmulatedDriver(const EmulatedDriver&) = delete;
  EmulatedDriver& operator=(const EmulatedDriver&) = delete;
  ~EmulatedDriver() override { ::munmap(host(kBase), kMemoryBytes); }

  const DeviceFacts& facts() const override { return facts_; }

  LaunchResult<DevicePtr> allocate(std::uint64_t bytes) override {
    const std::uint64_t size =
        (std::max<std::uint64_t>(bytes, 1) + kPageBytes - 1) / kPageBytes * kPageBytes;
    // One unused page lies behind each allocation.
    if (size > kMemoryBytes - kPageBytes - used_)
      return launch_fail(LaunchErrorKind::device_full, "the emulated memory is full");
    const DevicePtr memory = kBase + used_;
    used_ += size + kPageBytes;
    sizes_[memory] = size;
    return memory;
  }
  void free(DevicePtr memory) override {
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    // The pages are given back. The addresses are used again when no allocation is left.
    ::madvise(host(memory), found->second, MADV_REMOVE);
    sizes_.erase(found);
    if (sizes_.empty()) used_ = 0;
  }
  LaunchResult<DevicePtr> map_shared(int, std::uint64_t) override {
    return launch_fail(LaunchErrorKind::internal_error,
                       "the emulator shares no memory with a judge");
  }
  LaunchStatus unmap_shared(DevicePtr) override { return not_mapped(); }
  LaunchStatus hide_shared(DevicePtr) override { return not_mapped(); }
  LaunchStatus show_shared(DevicePtr) override { return not_mapped(); }
  LaunchStatus write(DevicePtr to, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(host(to), from.data(), from.size());
    return {};
  }
  LaunchStatus read(std::span<std::byte> to, DevicePtr from) override {
    if (!to.empty()) std::memcpy(to.data(), host(from), to.size());
    return synchronize();
  }
  LaunchStatus copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes) override {
    if (bytes > 0) std::memmove(host(to), host(from), bytes);
    return synchronize();
  }
  LaunchStatus fill_async(DevicePtr to, std::uint64_t count, std::uint32_t width,
                          std::uint64_t pattern) override {
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(host(to) + i * width, &pattern, width);
    return synchronize();
  }

  LaunchResult<KernelHandle> load(std::string_view image, const std::string& kernel,
                                  std::uint32_t) override {
    LaunchResult<DevicePtr> memory = allocate(image.size());
    if (!memory) return tl::unexpected(memory.error());
    std::memcpy(host(*memory), image.data(), image.size());
    kernels_.push_back({kernel, *memory, image.size(), {}});
    return static_cast<KernelHandle>(kernels_.size() - 1);
  }
  void unload(KernelHandle kernel) override { free(std::exchange(kernels_[kernel].image, 0)); }
  LaunchStatus reload(KernelHandle kernel, std::string_view image, const std::string&,
                      std::uint32_t) override {
    return write(kernels_[kernel].image, std::as_bytes(std::span(image)));
  }
  const KernelFacts& kernel_facts(KernelHandle kernel) const override {
    return kernels_[kernel].facts;
  }

  LaunchStatus launch_async(KernelHandle kernel, const LaunchShape& shape,
                            std::span<const ParamValue> params) override {
    if (LaunchStatus s = hip::check_hip_shape(shape); !s) return s;
    // An emulator runs blocks one after the other, so a block that waits for others never ends.
    if (shape.cooperative && shape.grid != std::array<std::uint32_t, 3>{1, 1, 1})
      return launch_fail(LaunchErrorKind::launch_failure,
                         "launch: the emulator has no cooperative launches of more than one block");
    LaunchResult<std::size_t> bytes = hip::pack_hip_arguments(params, arguments_);
    if (!bytes) return tl::unexpected(bytes.error());
    LaunchResult<DevicePtr> block = allocate(arguments_.size());
    if (!block) return tl::unexpected(block.error());
    if (LaunchStatus s = write(*block, arguments_); !s) return s;
    const Loaded& loaded = kernels_[kernel];
    nlohmann::json request;
    request["kernel"] = loaded.name;
    request["image"] = {loaded.image, loaded.bytes};
    request["arguments"] = {*block, *bytes};
    request["grid"] = shape.grid;
    request["block"] = shape.block;
    request["shared_bytes"] = shape.shared_bytes;
    const Result<nlohmann::json> reply = ask(socket_.get(), json_text(request), -1);
    free(*block);
    if (!reply)
      lost_ = reply.error().message;
    else if (const std::string problem = text_of(*reply, "error"); !problem.empty())
      return launch_fail(LaunchErrorKind::launch_failure, "the emulator: " + problem);
    return synchronize();
  }

  LaunchResult<TensorMap> encode_tensor_map(const TensorMapSpec&) override {
    return launch_fail(LaunchErrorKind::launch_failure,
                       "encoding a tensor map: AMD GPUs have none");
  }
  LaunchStatus synchronize() override { return lost_.empty() ? LaunchStatus() : lost(lost_); }
  LaunchStatus block_stream() override { return {}; }
  void unblock_stream() override {}
  LaunchStatus mark_start() override { return {}; }
  LaunchStatus mark_stop() override { return {}; }
  LaunchResult<double> elapsed_ns() override { return 0.0; }
  LaunchStatus reset_persisting_l2() override { return {}; }

 private:
  static LaunchStatus not_mapped() {
    return launch_fail(LaunchErrorKind::internal_error,
                       "unmapping shared memory that is not mapped");
  }

  struct Loaded {
    std::string name;
    DevicePtr image = 0;
    std::uint64_t bytes = 0;
    KernelFacts facts;
  };

  UniqueFd socket_;
  std::vector<std::byte> arguments_;
  DeviceFacts facts_;
  std::uint64_t used_ = 0;
  std::map<DevicePtr, std::uint64_t> sizes_;
  std::vector<Loaded> kernels_;
  std::string lost_;  // why the emulator is lost
};

}  // namespace

Result<EmulatorProcess> start_emulator(const std::string& program, const std::string& target) {
  const UniqueFd memory(::memfd_create("assay-emulated-memory", MFD_CLOEXEC));
  if (!memory) return fail_errno("memfd_create");
  if (::ftruncate(memory.get(), static_cast<off_t>(kMemoryBytes)) != 0)
    return fail_errno("ftruncate of the emulated memory");
  void* mapped = ::mmap(host(kBase), kMemoryBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, memory.get(), 0);
  if (mapped == MAP_FAILED) return fail_errno("mmap of the emulated memory");
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail_errno("socketpair");
  EmulatorProcess started{.socket = UniqueFd(ends[0]), .name = {}, .target = target};
  UniqueFd theirs(ends[1]);
  std::vector<std::string> words = {program,
                                    "--memory-fd",
                                    std::to_string(kMemoryFd),
                                    "--socket-fd",
                                    std::to_string(kSocketFd),
                                    "--base",
                                    std::to_string(kBase),
                                    "--bytes",
                                    std::to_string(kMemoryBytes),
                                    "--target",
                                    target};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    // The descriptors are first moved out of the way of the numbers that they get.
    constexpr int kAway = 100;
    const int memory_fd = ::fcntl(memory.get(), F_DUPFD, kAway);
    const int socket_fd = ::fcntl(theirs.get(), F_DUPFD, kAway);
    if (::dup2(memory_fd, kMemoryFd) < 0 || ::dup2(socket_fd, kSocketFd) < 0) ::_exit(1);
    ::close(memory_fd);
    ::close(socket_fd);
    ::execv(program.c_str(), argv.data());
    ::_exit(1);
  }
  theirs.reset();  // so that the end of the emulator ends the stream
  const Result<std::string> line = receive_line(started.socket.get(), kReadyMs);
  const nlohmann::json ready =
      line ? nlohmann::json::parse(*line, nullptr, false) : nlohmann::json();
  started.name = ready.is_object() ? text_of(ready, "ready") : "";
  if (!started.name.empty()) return started;
  ::munmap(mapped, kMemoryBytes);
  return fail(ErrorCode::unavailable,
              program + " is no emulator: " +
                  (line ? "it did not say that it is ready" : line.error().message));
}

Result<EmulatorProcess> start_emulator_of_environment() {
  const char* program = std::getenv(kEmulatorVariable);
  const char* target = std::getenv(kEmulatorTargetVariable);
  if (program == nullptr || *program != '/')
    return fail(ErrorCode::unavailable,
                std::string("there is no emulator: set ") + kEmulatorVariable +
                    " to the absolute path of its program (docs/explanation/amd.md)");
  return start_emulator(program, target == nullptr ? kEmulatorTarget : target);
}

std::unique_ptr<GpuDriver> make_emulated_driver(EmulatorProcess emulator) {
  return std::make_unique<EmulatedDriver>(std::move(emulator));
}

}  // namespace assay::sandbox
