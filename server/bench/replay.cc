#include "server/bench/replay.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "server/report/model/text.h"

namespace assay::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLineCharacters = 300;

std::string end_text(const JournalledEnd& end) {
  return end.error_kind.empty() || end.error_kind == "none"
             ? end.outcome
             : end.outcome + " (" + end.error_kind + ")";
}

/// Describes how an attempt differs from the recorded one; empty if it does not.
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

Result<std::vector<RecordedBench>> find_recorded(const fs::path& directory) {
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
    return fail(ErrorCode::not_found,
                "there is no journal of a bench in " + directory.string() +
                    " or in one of its folders; --replay takes what --out of a bench was");
  std::vector<RecordedBench> found;
  for (const fs::path& folder : folders) {
    Result<JournalContent> journal = read_journal(folder);
    if (!journal) return fail(journal.error());
    if (journal->runs.empty())
      return fail(
          ErrorCode::invalid_argument,
          "the bench in " + folder.string() + " never opened a run: there is nothing to replay");
    found.push_back({folder, std::move(*journal)});
    const bool alike =
        recorded_suite(found.back().journal) == recorded_suite(found.front().journal) &&
        found.back().journal.identity.samples == found.front().journal.identity.samples;
    if (!alike)
      return fail(ErrorCode::invalid_argument,
                  folder.string() + " has other operators or samples than " +
                      folders.front().string() + "; replay them one by one");
  }
  return found;
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
                  std::to_string(outcome.no_reply) + " had no reply to go on with\n";
  return outcome;
}

}  // namespace assay::bench
