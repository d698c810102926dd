// Makes sure that a server may open as many files as its jobs need. A job that finds no free
// descriptor ends as an error of the server.
//
//   const OpenFiles files = open_files_for({2, 6});  // the concurrency of each device
//   if (files.allowed < files.needed) return print_error("serve", kUnavailable, text_of(files));
//
// open_files_for() changes the soft limit of the process. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::server {

struct OpenFiles {
  std::int64_t needed = 0;
  std::int64_t allowed = 0;  // the soft limit, after it was raised within the hard limit
};

/// Returns the number of open files that a server needs, given how many jobs each of its devices
/// runs at once.
std::int64_t needed_open_files(const std::vector<int>& jobs_of_devices);

/// Raises the soft limit of the process to what is needed, as far as the hard limit allows.
OpenFiles open_files_for(const std::vector<int>& jobs_of_devices);

/// Says what is needed, what is allowed, and how to raise the limit.
std::string text_of(const OpenFiles& files);

}  // namespace assay::server
