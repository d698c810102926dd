// LogFile sends the log to a file, for tests that read what a program logs.
//
//   const LogFile file(log::Level::trace, log::Format::json);
//   log::info("job finished");
//   CHECK(file.lines().size() == 1);
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/log.h"
#include "tests/catch.h"

namespace assay::testing {

/// The destructor restores the default log and removes the file.
class LogFile {
 public:
  explicit LogFile(log::Level level, log::Format format) {
    std::filesystem::remove(path_);
    const Status started = log::configure({.level = level, .format = format, .file = path_});
    REQUIRE(started);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile() {
    static_cast<void>(log::configure({.level = log::Level::warning}));
    std::filesystem::remove(path_);
  }
  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> lines() const {
    std::ifstream in(path_);
    std::vector<std::string> found;
    for (std::string line; std::getline(in, line);) found.push_back(line);
    return found;
  }

 private:
  std::string path_ =
      std::filesystem::temp_directory_path() / ("assay_log_test." + std::to_string(::getpid()));
};

}  // namespace assay::testing
