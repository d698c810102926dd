#include "server/app/report_source.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "server/app/exit_status.h"
#include "server/report/model/format.h"
#include "server/runs/services.h"

namespace assay::server {
namespace {

constexpr std::size_t kNamedRuns = 5;

std::string named(const std::vector<tools::RunInfo>& runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.size() && i < kNamedRuns; ++i) {
    text += (i == 0 ? "" : ", ") + runs[i].handle + " (" + escape_line(runs[i].request.agent) +
            ", " + escape_line(runs[i].request.model) + ")";
  }
  return text;
}

Status add_calls(Store& store, tools::Scorecard& scorecard) {
  ASSAY_TRY(calls, store.judged_calls(scorecard.run.handle));
  for (tools::OperatorScore& score : scorecard.operators)
    score.calls = std::move(calls[score.operator_name]);
  return {};
}

}  // namespace

Result<std::unique_ptr<ServerServices>> open_store_to_read(const std::filesystem::path& store,
                                                           const operators::Catalog& catalog) {
  std::error_code error;
  if (!std::filesystem::exists(store, error))
    return fail(ErrorCode::io, "there is no store at " + store.string() +
                                   "; `assay bench` makes one, --store names another");
  ServicesOptions options;
  options.mode = StoreMode::read_only;
  return ServerServices::open(store, catalog, Devices{}, options);
}

Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog, const std::string& run) {
  return read_report(store, catalog,
                     run.empty() ? std::vector<std::string>() : std::vector<std::string>{run});
}

Result<report::Report> read_report(const std::filesystem::path& store,
                                   const operators::Catalog& catalog,
                                   const std::vector<std::string>& runs) {
  ASSAY_TRY(samples, read_runs(store, catalog, runs));
  return report::make_report(samples, &catalog);
}

Result<std::vector<tools::Scorecard>> read_runs(const std::filesystem::path& store,
                                                const operators::Catalog& catalog,
                                                const std::vector<std::string>& runs) {
  ASSAY_TRY(services, open_store_to_read(store, catalog));
  ASSAY_TRY(known, services->store().runs());
  if (known.empty())
    return fail(ErrorCode::not_found,
                "the store " + store.string() + " contains no run; `assay bench` makes one");
  std::vector<tools::Scorecard> samples;
  for (const std::string& handle :
       runs.empty() ? std::vector<std::string>{known.front().handle} : runs) {
    Result<tools::Scorecard> scorecard = services->runs().scorecard_for_operator(handle);
    if (scorecard) {
      ASSAY_RETURN_IF_ERROR(add_calls(services->store(), *scorecard));
      samples.push_back(std::move(*scorecard));
      continue;
    }
    if (scorecard.error().code != ErrorCode::not_found &&
        scorecard.error().code != ErrorCode::invalid_argument)
      return fail(scorecard.error());
    return fail(ErrorCode::not_found, "unknown run '" + report::printable_line(handle, 60) +
                                          "'; the newest in " + store.string() + ": " +
                                          named(known));
  }
  return samples;
}

Result<std::vector<tools::RunInfo>> list_runs(const std::filesystem::path& store,
                                              const operators::Catalog& catalog) {
  ASSAY_TRY(services, open_store_to_read(store, catalog));
  return services->store().runs();
}

Result<StoredJob> read_job(const std::filesystem::path& store, const operators::Catalog& catalog,
                           const std::string& job) {
  ASSAY_TRY(services, open_store_to_read(store, catalog));
  Result<StoredJob> found = services->store().stored_job(job);
  if (found || found.error().code != ErrorCode::not_found) return found;
  return fail(ErrorCode::not_found, "unknown job '" + report::printable_line(job, 60) + "' in " +
                                        store.string() +
                                        "; `assay report --format json` lists the jobs of a run");
}

Result<std::map<std::string, std::string>> read_sources(const std::filesystem::path& store,
                                                        const operators::Catalog& catalog,
                                                        const report::Report& report) {
  ASSAY_TRY(services, open_store_to_read(store, catalog));
  std::map<std::string, std::string> sources;
  for (const report::ReportRow& row : report.rows) {
    if (row.job.empty()) continue;
    ASSAY_TRY(source, services->store().source(row.job));
    sources.emplace(row.job, std::move(source));
  }
  return sources;
}

int status_of_report_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kUnknownName;
  if (error.code == ErrorCode::invalid_argument) return kUsage;
  if (error.code == ErrorCode::io) return kNoInput;
  return kStoreUnusable;
}

namespace {

using nlohmann::json;

constexpr std::size_t kMostAnswerBytes = 64U << 20;
constexpr std::size_t kMessageCharacters = 200;

struct Child {
  pid_t pid = -1;
  UniqueFd pidfd;
};

/// Returns a file in memory with this content. The child process reads its input from such a file
/// and writes its output to another one. With pipes instead, each process might wait until the
/// other one reads.
Result<UniqueFd> memory_file(const std::string& content) {
  UniqueFd file(::memfd_create("codebleu", MFD_CLOEXEC));
  if (!file) return fail_errno("memfd_create");
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = ::write(file.get(), content.data() + done, content.size() - done);
    if (written < 0) return fail_errno("write to a memory file");
    done += static_cast<std::size_t>(written);
  }
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return fail_errno("lseek in a memory file");
  return file;
}

Result<Child> start(std::vector<std::string> words, int input, int output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0)
    return fail(ErrorCode::unavailable, "posix_spawn_file_actions_init: out of memory");
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  Child child;
  // The environment is empty, because the child must not see keys or paths.
  char* environment[] = {nullptr};
  const int error = ::posix_spawn(&child.pid, arguments.front(), &actions, nullptr,
                                  arguments.data(), environment);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return fail(ErrorCode::unavailable,
                "posix_spawn " + words.front() + ": " + std::strerror(error));
  child.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  if (!child.pidfd) {
    const Error problem = fail_errno("pidfd_open").value();
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
    return fail(problem);
  }
  return child;
}

Status finish(const Child& child) {
  pollfd ended{child.pidfd.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&ended, 1, kSimilarityWallMs);
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) ::kill(child.pid, SIGKILL);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) continue;
  if (ready <= 0)
    return fail(ErrorCode::unavailable,
                "codebleu.py took more than " + std::to_string(kSimilarityWallMs / 1000) + " s");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "status " + std::to_string(WEXITSTATUS(status));
  return fail(ErrorCode::unavailable, "codebleu.py ended with " + how);
}

Result<std::string> run_program(const Paths& paths, const std::string& input) {
  ASSAY_TRY(question, memory_file(input));
  ASSAY_TRY(answer, memory_file(""));
  ASSAY_TRY(child, start({paths.python.string(), "-I", "-B",
                          (paths.root / "metrics/codebleu.py").string()},
                         question.get(), answer.get()));
  ASSAY_RETURN_IF_ERROR(finish(child));
  return read_small_file("/proc/self/fd/" + std::to_string(answer.get()), kMostAnswerBytes);
}

Result<std::vector<std::optional<report::Similarity>>> parse_answer(const std::string& text,
                                                                    std::size_t expected) {
  try {
    std::vector<std::optional<report::Similarity>> scores;
    const json answer = json::parse(text);
    for (const json& score : answer.at("scores")) {
      if (score.contains("error")) {
        scores.emplace_back();
        continue;
      }
      scores.push_back(report::Similarity{score.at("ngram"), score.at("weighted_ngram"),
                                          score.at("syntax"), score.at("dataflow"),
                                          score.at("codebleu")});
    }
    if (scores.size() == expected) return scores;
    return fail(ErrorCode::unavailable, "codebleu.py answered " + std::to_string(scores.size()) +
                                            " of " + std::to_string(expected) + " pairs");
  } catch (const json::exception& error) {
    return fail(ErrorCode::unavailable,
                "the answer of codebleu.py cannot be read: " +
                    report::printable_line(error.what(), kMessageCharacters));
  }
}

}  // namespace

Status add_similarity(report::Report& report, const std::map<std::string, std::string>& sources,
                      const operators::Catalog& catalog, const Paths& paths) {
  json pairs = json::array();
  std::vector<report::ReportRow*> rows;
  for (report::ReportRow& row : report.rows) {
    const auto source = sources.find(row.job);
    const operators::Operator* op = catalog.find(row.operator_name);
    if (source == sources.end() || op == nullptr || row.language != sandbox::kPython) continue;
    if (op->oracle_source.empty()) continue;  // there is no text to compare with
    pairs.push_back({{"candidate", source->second}, {"reference", op->oracle_source}});
    rows.push_back(&row);
  }
  if (rows.empty()) return {};
  ASSAY_TRY(answer, run_program(paths, json{{"pairs", pairs}}.dump(
                                           -1, ' ', true, json::error_handler_t::replace)));
  ASSAY_TRY(scores, parse_answer(answer, rows.size()));
  std::map<std::string, std::vector<double>> of_operator;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i]->similarity = scores[i];
    if (scores[i]) of_operator[rows[i]->operator_name].push_back(scores[i]->codebleu);
  }
  std::vector<double> means;
  for (const auto& [name, values] : of_operator) means.push_back(metrics::mean(values));
  report.totals.similarity = metrics::estimate(means);
  return {};
}

}  // namespace assay::server
