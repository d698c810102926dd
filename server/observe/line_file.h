// LineFile is a file to which a server appends lines, for example an audit log. A program that
// rotates logs renames the file and then makes the server call reopen(). A line that cannot be
// written is counted, and the log (base/log.h) says why.
//
//   Result<std::unique_ptr<LineFile>> file = LineFile::open("audit", "/var/log/assay/audit.jsonl");
//   if (!file) return fail(file.error());
//   (*file)->append(R"({"event": "start"})");
//   const Status reopened = (*file)->reopen();  // after the file was renamed
//
// Thread-safe. A line is written whole or not at all, and lines of several threads do not mix.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace assay::server {

class LineFile {
 public:
  /// Opens the file, and creates it with mode 0600 if it does not exist. `name` is what the log and
  /// the metrics call the file. The clock must outlive the object. Errors: io.
  static Result<std::unique_ptr<LineFile>> open(std::string name, std::string path,
                                                const Clock& clock = system_clock());

  /// Appends `line`, which must not contain a line break. The function returns when the kernel has
  /// the line; it does not wait for the disk.
  void append(const std::string& line);
  /// Opens the path again. On an error the old file stays in use. Errors: io.
  Status reopen();

  const std::string& name() const { return name_; }
  std::uint64_t lines() const;     // lines that were written
  std::uint64_t failures() const;  // lines that were lost

 private:
  LineFile(std::string name, std::string path, UniqueFd fd, const Clock& clock);

  const std::string name_, path_;
  const Clock& clock_;
  mutable Mutex mutex_;
  UniqueFd fd_ ASSAY_GUARDED_BY(mutex_);
  std::uint64_t lines_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t failures_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::int64_t next_complaint_ns_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
