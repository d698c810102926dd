#include "server/cli/bench_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace assay::server {
namespace {

using nlohmann::json;

constexpr int kJournalFormat = 1;

json identity_json(const BenchIdentity& identity) {
  return {{"kind", "bench"},           {"format", kJournalFormat},  {"agent", identity.agent}, {"model", identity.model},    {"suite", identity.suite},
          {"device", identity.device}, {"server", identity.server}, {"store", identity.store}, {"samples", identity.samples}};
}

/// "model is 'a' there and 'b' here"; empty when both describe the same bench.
std::string difference(const json& there, const json& here) {
  for (const auto& [key, value] : here.items()) {
    if (!there.contains(key) || there[key] != value)
      return key + " is " + (there.contains(key) ? there[key].dump() : "missing") + " there and " + value.dump() + " here";
  }
  return "";
}

}  // namespace

Result<std::unique_ptr<BenchJournal>> BenchJournal::open(const std::filesystem::path& directory, const BenchIdentity& identity, bool resume) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail(ErrorCode::io, "mkdir " + directory.string() + ": " + error.message());
  std::unique_ptr<BenchJournal> journal(new BenchJournal((directory / "journal.jsonl").string()));
  if (Status loaded = journal->load(identity, resume); !loaded) return fail(loaded.error());
  return journal;
}

Status BenchJournal::load(const BenchIdentity& identity, bool resume) {
  fd_.reset(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd_) return fail_errno("open " + path_);
  const Result<std::size_t> whole = read(identity, resume);
  if (!whole) return fail(whole.error());
  if (!resume && !runs_.empty()) {
    return fail(ErrorCode::invalid_argument, path_ + " is of an earlier bench; --resume continues it, --out names another directory");
  }
  // What never opened a run has nothing to lose: it is begun anew.
  const std::size_t kept = resume ? *whole : 0;
  if (::ftruncate(fd_.get(), static_cast<off_t>(kept)) != 0) return fail_errno("ftruncate " + path_);
  return kept == 0 ? append(identity_json(identity).dump()) : Status();
}

Result<std::size_t> BenchJournal::read(const BenchIdentity& identity, bool resume) {
  std::ifstream stream(path_, std::ios::binary);
  std::size_t whole = 0;
  for (std::string text; std::getline(stream, text) && !stream.eof();) {  // a last line without its end was cut short by a crash
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object()) return fail(ErrorCode::corrupt, path_ + ": a line is not a JSON object");
    const std::string other = whole == 0 && resume ? difference(line, identity_json(identity)) : "";
    if (!other.empty()) return fail(ErrorCode::invalid_argument, path_ + " is of another bench: " + other);
    whole += text.size() + 1;
    try {
      const std::string kind = line.at("kind").get<std::string>();
      if (kind == "run") {
        runs_[line.at("sample").get<std::int64_t>()] = {line.at("run").get<std::string>(), line.at("operators").get<std::vector<std::string>>()};
      } else if (kind == "finished") {
        finished_.emplace(line.at("sample").get<std::int64_t>(), line.at("operator").get<std::string>());
        spent_before_usd_ += line.at("cost_usd").get<double>();
      }
    } catch (const json::exception& broken) {
      return fail(ErrorCode::corrupt, path_ + ": " + broken.what());
    }
  }
  if (resume && whole == 0) return fail(ErrorCode::invalid_argument, "there is no bench to resume in " + path_);
  return whole;
}

const agents::RunHandle* BenchJournal::run_of(std::int64_t sample) const {
  const auto found = runs_.find(sample);
  return found == runs_.end() ? nullptr : &found->second;
}

bool BenchJournal::is_finished(std::int64_t sample, const std::string& operator_name) const { return finished_.count({sample, operator_name}) != 0; }

Status BenchJournal::add_run(std::int64_t sample, const agents::RunHandle& run) {
  if (Status written = append(json{{"kind", "run"}, {"sample", sample}, {"run", run.run}, {"operators", run.operators}}.dump()); !written) return written;
  runs_[sample] = run;
  return {};
}

Status BenchJournal::add_finished(std::int64_t sample, const std::string& operator_name, const agents::Attempt& attempt) {
  const json line = {{"kind", "finished"},
                     {"sample", sample},
                     {"operator", operator_name},
                     {"outcome", attempt.outcome},
                     {"error_kind", attempt.error_kind},
                     {"explanation", attempt.explanation},
                     {"input_tokens", attempt.input_tokens},
                     {"output_tokens", attempt.output_tokens},
                     {"cost_usd", attempt.cost_usd},
                     {"replies", attempt.replies},
                     {"tool_calls", attempt.tool_calls}};
  return append(line.dump(-1, ' ', false, json::error_handler_t::replace));
}

Status BenchJournal::append(const std::string& line) {
  const std::lock_guard lock(mutex_);
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(fd_.get(), text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno("write " + path_);
    done += static_cast<std::size_t>(put);
  }
  if (::fdatasync(fd_.get()) != 0) return fail_errno("fdatasync " + path_);
  return {};
}

}  // namespace assay::server
