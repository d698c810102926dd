#include "server/bench/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/handle.h"
#include "base/json.h"
#include "server/report/model/format.h"

namespace assay::bench {
namespace {

using nlohmann::json;

constexpr const char* kJournalFile = "journal.jsonl";
constexpr int kJournalFormat = 1;
constexpr const char* kPlace = "place";
constexpr const char* kStart = "start";

BenchIdentity identity_of(const json& line) {
  return {line.at("agent").get<std::string>(),    line.at("model").get<std::string>(),
          line.at("suite").get<std::string>(),    line.at("device").get<std::string>(),
          line.value("server", std::string()),    line.value("store", std::string()),
          line.at("samples").get<std::int64_t>(), line.value("track", std::string()),
          line.value("folder", std::string()),    line.value(kPlace, std::int64_t{0})};
}

/// This function and the next two return lines of the journal as JSON. journal.h shows examples.
json identity_line(const BenchIdentity& identity) {
  json line = {
      {"kind", "bench"},           {"format", kJournalFormat}, {"agent", identity.agent},
      {"model", identity.model},   {"suite", identity.suite},  {"device", identity.device},
      {"server", identity.server}, {"store", identity.store},  {"samples", identity.samples}};
  if (!identity.track.empty()) line["track"] = identity.track;
  if (!identity.folder.empty()) line["folder"] = identity.folder;
  if (identity.place > 0) line[kPlace] = identity.place;
  return line;
}

json run_line(std::int64_t sample, const agents::RunHandle& run) {
  return {{"kind", "run"},
          {"sample", sample},
          {"run", run.run},
          {"operators", run.operators},
          {"suite_id",
           {{"name", run.suite_id.name},
            {"version", run.suite_id.version},
            {"digest", run.suite_id.digest}}}};
}

json finished_line(std::int64_t sample, const std::string& operator_name,
                   const agents::Attempt& attempt, double wall_ms, const std::string& replay) {
  json line = {{"kind", "finished"},
               {"sample", sample},
               {"operator", operator_name},
               {"outcome", attempt.outcome},
               {"error_kind", attempt.error_kind},
               {"explanation", attempt.explanation},
               {"input_tokens", attempt.input_tokens},
               {"output_tokens", attempt.output_tokens},
               {"cost_usd", attempt.cost_known ? json(attempt.cost_usd) : json()},
               {"charged_usd", attempt.charged_usd},
               {"replies", attempt.replies},
               {"tool_calls", attempt.tool_calls},
               {"wall_ms", wall_ms}};
  if (!replay.empty()) line["replay"] = replay;
  return line;
}

/// Compares the identity line of an existing journal (`there`) with that of the bench to start
/// (`here`). Returns a text such as "model is 'a' there and 'b' here". Returns "" if both lines
/// describe the same bench.
std::string identity_difference(const json& there, const json& here) {
  for (const auto& [key, value] : here.items()) {
    if (key == kPlace) continue;
    if (!there.contains(key) || there[key] != value)
      return key + " is " + (there.contains(key) ? there[key].dump() : "missing") + " there and " +
             value.dump() + " here";
  }
  for (const char* optional : {"track", "folder"}) {
    if (there.contains(optional) && !here.contains(optional))
      return std::string(optional) + " is " + there[optional].dump() + " there and missing here";
  }
  return "";
}

/// Returns the suite in a line about a run. The lines of older versions have none.
SuiteId suite_in(const json& line) {
  const auto found = line.find("suite_id");
  if (found == line.end()) return {};
  return {found->at("name").get<std::string>(), found->at("version").get<std::string>(),
          found->at("digest").get<std::string>()};
}

/// Adds the content of one line of a journal to `content`. Ignores lines of unknown kinds. Throws
/// an exception of the JSON library if a member is missing or has a wrong type.
void read_journal_line(const json& line, JournalContent& content) {
  const std::string kind = line.at("kind").get<std::string>();
  if (kind == "bench") content.identity = identity_of(line);
  if (kind == "run")
    content.runs[line.at("sample").get<std::int64_t>()] = {
        line.at("run").get<std::string>(), line.at("operators").get<std::vector<std::string>>(),
        suite_in(line)};
  if (kind == kStart)
    content.starts[line.at("sample").get<std::int64_t>()] = line.at("call_id").get<std::string>();
  if (kind != "finished") return;
  JournalledEnd& end = content.finished[{line.at("sample").get<std::int64_t>(),
                                         line.at("operator").get<std::string>()}];
  end = {line.at("outcome").get<std::string>(), line.value("error_kind", std::string()),
         line.value("explanation", std::string()), line.value("replay", std::string())};
  if (const json& cost = line.at("cost_usd"); !cost.is_null()) end.cost_usd = cost.get<double>();
  end.charged_usd = line.value("charged_usd", end.cost_usd.value_or(0));
  end.wall_ms = line.value("wall_ms", 0.0);
}

struct Parsed {
  JournalContent content;
  json identity;          // the first line; null if the journal has no lines
  std::size_t whole = 0;  // the total size of all complete lines, in bytes
};

Result<Parsed> parse(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Parsed parsed;
  // A last line without a newline is ignored, because a crash cut it short.
  for (std::string text; std::getline(stream, text) && !stream.eof();) {
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
    return fail(ErrorCode::corrupt, path + " does not name its bench");
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
  // Only one bench may use the journal at a time. Two benches would pay a provider twice for the
  // same replies.
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
    return fail(ErrorCode::invalid_argument, path_ + " belongs to another bench: " + other);
  if (!resume && !there->content.runs.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        path_ +
            " belongs to an earlier bench; --resume continues it, --out names another directory");
  }
  // Without `resume`, the journal contains no run at this point, so all its lines are removed,
  // unless the same bench was interrupted while it started its first run. Otherwise, only an
  // incomplete last line is removed.
  const bool goes_on =
      resume || (!there->content.starts.empty() &&
                 identity_difference(there->identity, identity_line(identity)).empty());
  const std::size_t kept = goes_on ? there->whole : 0;
  if (goes_on) content_ = std::move(there->content);
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

Result<std::string> BenchJournal::start_of(std::int64_t sample) {
  if (const auto found = content_.starts.find(sample); found != content_.starts.end())
    return found->second;
  return new_start_of(sample);
}

Result<std::string> BenchJournal::new_start_of(std::int64_t sample) {
  const std::string id = new_handle("start");
  const json line = {{"kind", kStart}, {"sample", sample}, {"call_id", id}};
  ASSAY_RETURN_IF_ERROR(append(line.dump()));
  return content_.starts[sample] = id;
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
  const MutexLock lock(mutex_);
  if (Status written = append_line(fd_.get(), path_, line); !written) return written;
  if (::fdatasync(fd_.get()) != 0) return fail_errno("fdatasync " + path_);
  return {};
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLineCharacters = 300;

std::string end_text(const JournalledEnd& end) {
  return end.error_kind.empty() || end.error_kind == "none"
             ? end.outcome
             : end.outcome + " (" + end.error_kind + ")";
}

/// Returns a text that says how an attempt of a replay (`here`) differs from the recorded attempt
/// (`there`). Returns "" if the two are equal.
std::string deviation_of(const JournalledEnd* there, const JournalledEnd& here) {
  if (there == nullptr)
    return "not finished there, " +
           (here.outcome == kNoReply ? here.replay : end_text(here) + " here");
  if (here.outcome == kNoReply) return here.replay;
  std::string text;
  if (end_text(*there) != end_text(here))
    text = end_text(*there) + " there, " + end_text(here) + " here";
  if (!here.replay.empty()) text += (text.empty() ? "" : "; ") + here.replay;
  return text;
}

}  // namespace

Result<std::vector<RecordedBench>> find_benches(const fs::path& directory) {
  std::vector<fs::path> folders;
  if (has_journal(directory)) {
    folders.push_back(directory);
  } else {
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      if (has_journal(it->path())) folders.push_back(it->path());
    }
    std::sort(folders.begin(), folders.end());
  }
  if (folders.empty())
    return fail(ErrorCode::not_found, "there is no journal of a bench in " + directory.string() +
                                          " or in one of its folders; name the --out of a bench");
  std::vector<RecordedBench> found;
  for (const fs::path& folder : folders) {
    ASSAY_TRY(journal, read_journal(folder));
    found.push_back({folder, std::move(journal)});
  }
  std::stable_sort(found.begin(), found.end(), [](const RecordedBench& a, const RecordedBench& b) {
    return a.journal.identity.place < b.journal.identity.place;
  });
  return found;
}

Result<std::vector<RecordedBench>> find_recorded(const fs::path& directory) {
  ASSAY_TRY(found, find_benches(directory));
  for (const RecordedBench& bench : found) {
    if (bench.journal.runs.empty())
      return fail(ErrorCode::invalid_argument,
                  "the bench in " + bench.directory.string() +
                      " never started a run, so there is nothing to replay");
    const bool alike = recorded_suite(bench.journal) == recorded_suite(found.front().journal) &&
                       bench.journal.identity.samples == found.front().journal.identity.samples;
    if (!alike)
      return fail(ErrorCode::invalid_argument,
                  bench.directory.string() + " has other operators or samples than " +
                      found.front().directory.string() + "; replay them one by one");
  }
  return std::move(found);
}

std::string recorded_suite(const JournalContent& journal) {
  if (journal.runs.empty()) return journal.identity.suite;
  std::string suite;
  for (const std::string& name : journal.runs.begin()->second.operators)
    suite += (suite.empty() ? "" : ",") + name;
  return suite;
}

ReplayOutcome compare_replay(const JournalContent& recorded, const JournalContent& replayed) {
  ReplayOutcome outcome;
  for (const auto& [which, here] : replayed.finished) {
    const auto found = recorded.finished.find(which);
    const std::string deviation =
        deviation_of(found == recorded.finished.end() ? nullptr : &found->second, here);
    ++(here.outcome == kNoReply ? outcome.no_reply
       : deviation.empty()      ? outcome.same
                                : outcome.other);
    if (!deviation.empty())
      outcome.text += which.second + " #" + std::to_string(which.first) + ": " +
                      report::printable_line(deviation, kLineCharacters) + "\n";
  }
  outcome.text += std::to_string(outcome.same) + " of " + std::to_string(replayed.finished.size()) +
                  " attempts went as recorded, " + std::to_string(outcome.other) + " otherwise, " +
                  std::to_string(outcome.no_reply) + " had no reply to continue with\n";
  return outcome;
}

}  // namespace assay::bench
