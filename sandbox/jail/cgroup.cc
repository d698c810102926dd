#include "sandbox/jail/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "sandbox/jail/own_groups.h"

namespace assay::sandbox {
namespace {

// The number of attempts to remove a cgroup. A process leaves its cgroup shortly after its end is
// reported, so the first attempt can fail.
constexpr int kRemoveAttempts = 50;
constexpr auto kRemovePause = std::chrono::milliseconds(2);
// In version 1, a cgroup has reached its memory limit if its greatest usage came so close to it.
// The kernel charges memory in batches, the largest of which is a huge page (2 MiB).
constexpr std::int64_t kLimitSlackBytes = 4LL << 20;
constexpr std::int64_t kCpuPeriodUs = 100'000;  // the kernel's default value
constexpr const char* kMostWeight = "10000";    // the maximum in version 2
constexpr const char* kMostShares = "262144";   // the maximum in version 1
// The CPU weight of a cgroup with CgroupLimits::yields, in version 2 and version 1. It is a quarter
// of the default weight, which other cgroups have. With this weight, a candidate still finishes
// within its time limits on a busy machine.
constexpr const char* kYieldingWeight = "25";
constexpr const char* kYieldingShares = "256";
const std::string kPrefix = "assay-";

Status write_kernel_file(const std::string& path, const std::string& text) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + text + " to " + path);
  return {};
}

/// Makes the controller available to the cgroups below a folder of the version 2 hierarchy. The
/// kernel refuses this if the folder's own cgroup contains processes.
Status enable(const std::string& folder, const std::string& controller) {
  const std::string path = folder + "/cgroup.subtree_control";
  std::string enabled = read_small_file(path);
  while (!enabled.empty() && enabled.back() == '\n') enabled.pop_back();
  if (has_word(enabled, controller, ' ')) return {};
  return write_kernel_file(path, "+" + controller);
}

/// Returns the number that follows `key` in a text of "key number" lines, or 0 if the key is
/// absent.
std::int64_t counter(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string name;
  for (std::int64_t value = 0; lines >> name >> value;) {
    if (name == key) return value;
  }
  return 0;
}

Status make_group(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return fail_errno("mkdir " + folder);
  return {};
}

Status limit_memory(const std::string& folder, bool version2, std::int64_t bytes) {
  const std::string text = std::to_string(bytes);
  if (version2) {
    if (Status set = write_kernel_file(folder + "/memory.max", text); !set) return set;
    // Kernels without swap accounting lack memory.swap.max. Old kernels lack memory.oom.group. Both
    // files are optional.
    if (::access((folder + "/memory.swap.max").c_str(), F_OK) == 0) {
      if (Status set = write_kernel_file(folder + "/memory.swap.max", "0"); !set) return set;
    }
    if (::access((folder + "/memory.oom.group").c_str(), F_OK) == 0)
      return write_kernel_file(folder + "/memory.oom.group", "1");
    return {};
  }
  if (Status set = write_kernel_file(folder + "/memory.limit_in_bytes", text); !set) return set;
  if (::access((folder + "/memory.memsw.limit_in_bytes").c_str(), F_OK) == 0)
    return write_kernel_file(folder + "/memory.memsw.limit_in_bytes", text);
  return {};
}

Status limit_cpu(const std::string& folder, bool version2, std::int64_t percent) {
  const std::string quota = std::to_string(percent * kCpuPeriodUs / 100),
                    period = std::to_string(kCpuPeriodUs);
  if (version2) return write_kernel_file(folder + "/cpu.max", quota + " " + period);
  if (Status set = write_kernel_file(folder + "/cpu.cfs_period_us", period); !set) return set;
  return write_kernel_file(folder + "/cpu.cfs_quota_us", quota);
}

/// Sets the cgroup's share of CPU time. The share matters only while all CPU cores are busy.
Status weigh_cpu(const std::string& folder, bool version2, const char* weight, const char* shares) {
  return version2 ? write_kernel_file(folder + "/cpu.weight", weight)
                  : write_kernel_file(folder + "/cpu.shares", shares);
}

template <class SetLimit>
Result<std::string> create_for(const std::string& controller, const std::string& name,
                               SetLimit set_limit) {
  Result<CgroupPlace> place = find_cgroup_place(controller);
  if (!place) return fail(place.error());
  const std::string folder = place->folder + "/" + name;
  // In version 2, all controllers use the same folder. It exists already if the limit of another
  // controller has been set.
  const bool shared = ::access(folder.c_str(), F_OK) == 0;
  if (Status made = make_group(folder); !made) return fail(made.error());
  if (Status set = set_limit(folder, place->version2); !set) {
    if (!shared) ::rmdir(folder.c_str());
    return fail(set.error());
  }
  return folder;
}

/// The cgroups that this process could not remove yet, because they still contained processes.
/// Thread-safe.
class Leftovers {
 public:
  void add(const std::string& folder) {
    const MutexLock lock(mutex_);
    folders_.push_back(folder);
  }
  /// Tries once more to remove each of these cgroups.
  void remove() {
    const MutexLock lock(mutex_);
    std::erase_if(folders_, [](const std::string& folder) {
      return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
    });
  }

 private:
  Mutex mutex_;
  std::vector<std::string> folders_ ASSAY_GUARDED_BY(mutex_);
};

Leftovers& leftovers() {
  static Leftovers all;
  return all;
}

void remove_group(const std::string& folder) {
  for (int attempt = 0; attempt < kRemoveAttempts; ++attempt) {
    if (::rmdir(folder.c_str()) == 0 || errno != EBUSY) return;
    system_clock().pause(kRemovePause);
  }
  leftovers().add(folder);
}

void kill_members(const std::string& folder) {
  std::istringstream members(read_small_file(folder + "/cgroup.procs"));
  for (pid_t pid = 0; members >> pid;) ::kill(pid, SIGKILL);
}

}  // namespace

Result<CgroupPlace> find_cgroup_place(const std::string& controller) {
  std::string why = "no cgroup hierarchy with the controller " + controller + " is mounted";
  for (const OwnGroup& own : own_groups(controller, read_group_tables())) {
    for (const std::string& group : {own.group, std::string("/")}) {
      const std::string folder = own.mount + (group == "/" ? "" : group);
      if (::access(folder.c_str(), F_OK) != 0) continue;
      if (::access(folder.c_str(), W_OK) != 0) {
        why = folder +
              " is not writable (needs root or a delegated group: systemd-run --user --scope -p "
              "Delegate=yes ...)";
        continue;
      }
      if (!own.version2) return CgroupPlace{folder, false};
      const Status enabled = enable(folder, controller);
      if (enabled) return CgroupPlace{folder, true};
      why = enabled.error().message;
    }
  }
  return fail(ErrorCode::unavailable, why);
}

Cgroup Cgroup::create(const std::string& name, const CgroupLimits& limits, LayerList& layers) {
  leftovers().remove();
  Cgroup group;
  layers.apply("cgroup_memory", [&]() -> Status {
    const auto set = [&](const std::string& folder, bool version2) {
      return limit_memory(folder, version2, limits.memory_bytes);
    };
    Result<std::string> folder = create_for("memory", name, set);
    if (!folder) return fail(folder.error());
    group.memory_ = std::move(*folder);
    return {};
  });
  layers.apply("cgroup_pids", [&]() -> Status {
    const auto set = [&](const std::string& folder, bool) {
      return write_kernel_file(folder + "/pids.max", std::to_string(limits.processes));
    };
    Result<std::string> folder = create_for("pids", name, set);
    if (!folder) return fail(folder.error());
    group.pids_ = std::move(*folder);
    return {};
  });
  layers.apply("cgroup_cpu", [&]() -> Status {
    const auto set = [&](const std::string& folder, bool version2) {
      const Status limited = limit_cpu(folder, version2, limits.cpu_percent);
      return limited && limits.yields
                 ? weigh_cpu(folder, version2, kYieldingWeight, kYieldingShares)
                 : limited;
    };
    Result<std::string> folder = create_for("cpu", name, set);
    if (!folder) return fail(folder.error());
    group.cpu_ = std::move(*folder);
    return {};
  });
  // Version 2 counts processor time in each cgroup. Without a count, a candidate that waited for a
  // processor is treated as one that did not wait, so this is no isolation layer.
  Result<std::string> account =
      create_for("cpuacct", name, [](const std::string&, bool) { return Status(); });
  if (account) group.cpu_account_ = std::move(*account);
  return group;
}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this != &other) {
    remove();
    memory_ = std::move(other.memory_);
    pids_ = std::move(other.pids_);
    cpu_ = std::move(other.cpu_);
    cpu_account_ = std::move(other.cpu_account_);
    other.forget();
  }
  return *this;
}

std::vector<std::string> Cgroup::folders() const {
  std::vector<std::string> all;
  for (const std::string* folder : {&memory_, &pids_, &cpu_, &cpu_account_}) {
    if (!folder->empty() && std::find(all.begin(), all.end(), *folder) == all.end())
      all.push_back(*folder);
  }
  return all;
}

Status Cgroup::add(pid_t pid) {
  for (const std::string& folder : folders()) {
    if (Status added = write_kernel_file(folder + "/cgroup.procs", std::to_string(pid)); !added)
      return added;
  }
  return {};
}

Status Cgroup::hurry_end() {
  if (cpu_.empty()) return {};
  const bool version2 = ::access((cpu_ + "/cpu.max").c_str(), F_OK) == 0;
  const Status lifted = version2 ? write_kernel_file(cpu_ + "/cpu.max", "max")
                                 : write_kernel_file(cpu_ + "/cpu.cfs_quota_us", "-1");
  const Status preferred = weigh_cpu(cpu_, version2, kMostWeight, kMostShares);
  return lifted ? preferred : lifted;
}

Cgroup::MemoryEvents Cgroup::memory_events() const {
  if (memory_.empty()) return {};
  const std::string events = read_small_file(memory_ + "/memory.events");
  if (!events.empty()) return {counter(events, "oom") > 0, counter(events, "oom_kill")};
  // Version 1 has no such event. It counts failed allocations (memory.failcnt), but recent kernels
  // do not count those that fail at the limit of memory and swap together.
  const auto bytes = [&](const char* file) {
    return std::atoll(read_small_file(memory_ + file).c_str());
  };
  return {bytes("/memory.max_usage_in_bytes") >= bytes("/memory.limit_in_bytes") - kLimitSlackBytes,
          counter(read_small_file(memory_ + "/memory.oom_control"), "oom_kill")};
}

bool Cgroup::out_of_memory() const {
  const MemoryEvents events = memory_events();
  return events.killed > 0 && events.reached_limit;
}

bool Cgroup::machine_out_of_memory() const {
  const MemoryEvents events = memory_events();
  return events.killed > 0 && !events.reached_limit;
}

bool Cgroup::out_of_processes() const {
  return !pids_.empty() && counter(read_small_file(pids_ + "/pids.events"), "max") > 0;
}

std::optional<std::int64_t> Cgroup::used_cpu_ms() const {
  for (const std::string& folder : folders()) {
    const std::string used = read_small_file(folder + "/cpuacct.usage");
    if (!used.empty()) return std::atoll(used.c_str()) / static_cast<std::int64_t>(kNsPerMs);
    // Only version 2 has this counter in the file, and it counts without the controller cpu too.
    const std::int64_t used_us = counter(read_small_file(folder + "/cpu.stat"), "usage_usec");
    if (used_us > 0) return used_us / 1'000;
  }
  return std::nullopt;
}

void Cgroup::remove() {
  for (const std::string& folder : folders()) remove_group(folder);
  forget();
}

void Cgroup::forget() {
  memory_.clear();
  pids_.clear();
  cpu_.clear();
  cpu_account_.clear();
}

bool sweep_cgroups() {
  namespace fs = std::filesystem;
  bool clean = true;
  for (const char* controller : {"memory", "pids", "cpu", "cpuacct"}) {
    const Result<CgroupPlace> place = find_cgroup_place(controller);
    if (!place) continue;
    std::error_code error;
    for (fs::directory_iterator entry(place->folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with(kPrefix)) continue;
      const pid_t owner = static_cast<pid_t>(std::atoi(name.c_str() + kPrefix.size()));
      if (owner <= 0 || ::kill(owner, 0) == 0 || errno != ESRCH) continue;
      if (::rmdir(entry->path().c_str()) == 0 || errno == ENOENT) continue;
      kill_members(entry->path().string());
      clean = false;
    }
  }
  return clean;
}

}  // namespace assay::sandbox
