// Reads files and appends lines to files with plain system calls.
//
// append_line() writes a whole line or nothing, so that a full disk leaves no partial line. The
// next line would continue a partial line, and both would be unreadable. The file must be opened
// with O_APPEND, and only one thread at a time may append to it.
//
//   const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
//   const Status written = append_line(fd.get(), path, R"({"event": "start"})");
//
// read_small_file() reads a file of the Linux kernel (/proc, /sys, cgroups). It uses no iostreams,
// because it also runs in forked Python processes, which have several C++ runtimes loaded. There a
// stream of one runtime can get the locale of another runtime: in a process with a CUDA build of
// PyTorch, `>>` on an ifstream never returned. Several threads may call it at a time.
//
// parse_process_stat() parses one of these files, /proc/PID/stat. The name of the process in it
// stands in parentheses and may contain any character, also ')' and spaces.
//
//   const auto stat = parse_process_stat(read_small_file("/proc/self/stat"));
//   const std::int64_t parent = stat ? stat->value(StatField::parent).value_or(0) : 0;
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

/// Writes `line` and a newline. On an error it removes the part that was written. Errors: io, and
/// the message has the system call, the path and errno.
Status append_line(int fd, const std::string& path, const std::string& line);

/// Reserves `bytes` of disk space after the end of the file without changing the file's size. So an
/// append of at most `bytes` cannot fail for lack of space. Does nothing on file systems that
/// cannot reserve space. Errors: io, for example if there is not enough space.
Status reserve_space(int fd, const std::string& path, std::int64_t bytes);

/// Frees the reserved space that is still unused. Errors: io.
Status release_space(int fd, const std::string& path);

/// Returns at most the first `limit_bytes` of the file, or "" if the file cannot be read.
std::string read_small_file(const std::string& path, std::size_t limit_bytes = 1U << 20);

/// The numbers of the fields in proc_pid_stat(5).
enum class StatField : std::size_t {
  parent = 4,
  flags = 9,
  user_ticks = 14,
  system_ticks = 15,
  children_user_ticks = 16,
  children_system_ticks = 17,
  threads = 20,
  start_ticks = 22,  // after the start of the machine
};

struct ProcessStat {
  int pid = 0;
  std::vector<std::string> after_name;  // the fields from number 3 on

  /// Returns a field, or nothing if the text has no such field.
  std::optional<std::int64_t> value(StatField field) const;
};

/// Returns nothing if the text is empty or has no name of a process. An ended process has no text.
std::optional<ProcessStat> parse_process_stat(std::string_view text);

}  // namespace assay
