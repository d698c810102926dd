#include "server/bench/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/append_line.h"
#include "server/bench/journal_lines.h"

namespace assay::server {
namespace {

using nlohmann::json;

constexpr const char* kJournalFile = "journal.jsonl";

struct Parsed {
  JournalContent content;
  json identity;          // the first line; null when there is none
  std::size_t whole = 0;  // bytes of the whole lines
};

Result<Parsed> parse(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Parsed parsed;
  for (std::string text; std::getline(stream, text) &&
                         !stream.eof();) {  // a last line without its end was cut short by a crash
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object())
      return fail(ErrorCode::corrupt, path + ": a line is not a JSON object");
    if (parsed.whole == 0) parsed.identity = line;
    parsed.whole += text.size() + 1;
    try {
      read_journal_line(line, parsed.content);
    } catch (const json::exception& broken) {
      return fail(ErrorCode::corrupt, path + ": " + broken.what());
    }
  }
  return parsed;
}

}  // namespace

bool has_journal(const std::filesystem::path& directory) {
  std::error_code error;
  const auto size = std::filesystem::file_size(directory / kJournalFile, error);
  return !error && size > 0;
}

Result<JournalContent> read_journal(const std::filesystem::path& directory) {
  const std::string path = (directory / kJournalFile).string();
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(ErrorCode::not_found, "there is no journal of a bench at " + path);
  Result<Parsed> parsed = parse(path);
  if (!parsed) return fail(parsed.error());
  if (parsed->whole == 0 || parsed->content.identity.agent.empty())
    return fail(ErrorCode::corrupt, path + " does not say which bench it is of");
  return std::move(parsed->content);
}

Result<std::unique_ptr<BenchJournal>> BenchJournal::open(const std::filesystem::path& directory,
                                                         const BenchIdentity& identity,
                                                         bool resume) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail(ErrorCode::io, "mkdir " + directory.string() + ": " + error.message());
  std::unique_ptr<BenchJournal> journal(new BenchJournal((directory / kJournalFile).string()));
  if (Status loaded = journal->load(identity, resume); !loaded) return fail(loaded.error());
  return journal;
}

Status BenchJournal::load(const BenchIdentity& identity, bool resume) {
  fd_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd_) return fail_errno("open " + path_);
  // Two benches with one journal would pay for the same replies.
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail_errno("flock " + path_);
    return fail(
        ErrorCode::unavailable,
        path_ + " is in use by another bench; wait for it, or name another directory with --out");
  }
  Result<Parsed> there = parse(path_);
  if (!there) return fail(there.error());
  if (resume && there->whole == 0)
    return fail(ErrorCode::invalid_argument, "there is no bench to resume in " + path_);
  const std::string other =
      resume ? identity_difference(there->identity, identity_line(identity)) : "";
  if (!other.empty())
    return fail(ErrorCode::invalid_argument, path_ + " is of another bench: " + other);
  if (!resume && !there->content.runs.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        path_ + " is of an earlier bench; --resume continues it, --out names another directory");
  }
  // What never opened a run has nothing to lose: it is begun anew.
  const std::size_t kept = resume ? there->whole : 0;
  if (resume) content_ = std::move(there->content);
  if (::ftruncate(fd_.get(), static_cast<off_t>(kept)) != 0)
    return fail_errno("ftruncate " + path_);
  return kept == 0 ? append(identity_line(identity).dump()) : Status();
}

const agents::RunHandle* BenchJournal::run_of(std::int64_t sample) const {
  const auto found = content_.runs.find(sample);
  return found == content_.runs.end() ? nullptr : &found->second;
}

bool BenchJournal::is_finished(std::int64_t sample, const std::string& operator_name) const {
  return content_.finished.count({sample, operator_name}) != 0;
}

double BenchJournal::spent_before_usd() const {
  double spent = 0;
  for (const auto& [which, end] : content_.finished) spent += end.charged_usd;
  return spent;
}

Status BenchJournal::add_run(std::int64_t sample, const agents::RunHandle& run) {
  if (Status written = append(run_line(sample, run).dump()); !written) return written;
  content_.runs[sample] = run;
  return {};
}

Status BenchJournal::add_finished(std::int64_t sample, const std::string& operator_name,
                                  const agents::Attempt& attempt, double wall_ms,
                                  const std::string& replay) {
  return append(finished_line(sample, operator_name, attempt, wall_ms, replay)
                    .dump(-1, ' ', false, json::error_handler_t::replace));
}

Status BenchJournal::append(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (Status written = append_line(fd_.get(), path_, line); !written) return written;
  if (::fdatasync(fd_.get()) != 0) return fail_errno("fdatasync " + path_);
  return {};
}

}  // namespace assay::server
