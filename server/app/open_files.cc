#include "server/app/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace assay::server {
namespace {

// Descriptors of a server without jobs: the store, the log, the zygotes, the judges, the parked
// candidates, and the connection on stdio. An idle server on two cores has 22 open files.
constexpr std::int64_t kBase = 48;
// Descriptors of one running job: the sockets, pipes and pidfds of its processes, of which a job on
// a CPU had at most 18, one of its waiting client, and the memory files of its cases. On a GPU
// these are at most three for each case, and no operator of Assay has more than 15 cases.
constexpr std::int64_t kForOneJob = 64;

}  // namespace

std::int64_t needed_open_files(const std::vector<int>& jobs_of_devices) {
  std::int64_t needed = kBase;
  for (const int jobs : jobs_of_devices) needed += jobs * kForOneJob;
  return needed;
}

OpenFiles open_files_for(const std::vector<int>& jobs_of_devices) {
  OpenFiles files{.needed = needed_open_files(jobs_of_devices), .allowed = 0};
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return files;
  const auto needed = static_cast<rlim_t>(files.needed);
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min(needed, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 && ::getrlimit(RLIMIT_NOFILE, &limit) != 0)
      return files;
  }
  files.allowed =
      static_cast<std::int64_t>(std::min(limit.rlim_cur, static_cast<rlim_t>(INT64_MAX)));
  return files;
}

std::string text_of(const OpenFiles& files) {
  return "this server needs " + std::to_string(files.needed) +
         " open files for its jobs, and the limit is " + std::to_string(files.allowed) +
         "; raise the hard limit: `ulimit -Hn " + std::to_string(files.needed) +
         "` as root, LimitNOFILE= of systemd, or --ulimit nofile= of Docker";
}

}  // namespace assay::server
