#include "server/site/write_data.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/handle.h"
#include "base/json.h"
#include "base/text.h"
#include "server/app/report_source.h"
#include "server/report/model/compare.h"
#include "server/report/model/label.h"
#include "server/report/text/report_json.h"
#include "server/runs/services.h"
#include "server/site/attempt.h"
#include "server/site/groups.h"
#include "server/site/parts_json.h"
#include "server/site/spec.h"
#include "tools/model/public_verdict.h"

namespace assay::site {
namespace {

using nlohmann::ordered_json;
using operators::Catalog;

/// The operators of one suite, as far as runs have them.
struct SuiteOperators {
  SuiteId id;
  const Catalog* catalog = nullptr;            // null: the operators' specifications are unknown
  std::vector<std::string> names;              // in the order in which runs have them
  std::map<std::string, std::size_t> indexes;  // by name

  std::size_t index_of(const std::string& name) {
    const auto [place, is_new] = indexes.emplace(name, names.size());
    if (is_new) names.push_back(name);
    return place->second;
  }
  const operators::Operator* find(const std::string& name) const {
    return catalog == nullptr ? nullptr : catalog->find(name);
  }
};

/// The first group of those that are comparable with each other.
struct Base {
  std::size_t group = 0;
  std::string device_class;
  report::Report report;  // without verdicts
};

/// Writes the groups one after the other.
class DataWriter {
 public:
  DataWriter(const DataOptions& options, const std::vector<const Catalog*>& catalogs,
             DataSink& sink)
      : options_(options), catalogs_(catalogs), sink_(sink) {}

  Status open(const std::vector<DataStore>& stores);
  Result<DataSummary> write();

 private:
  const Catalog* catalog_of(const SuiteId& suite) const;
  SuiteOperators& suite_of(const SuiteId& suite);
  Status add_runs(const DataStore& store);
  Check check_of(const report::ReportRow& row, const SiteRun& run) const;
  Status add_group(const std::vector<std::size_t>& members);
  Status add_attempt(const report::ReportRow& row, const SiteRun& run, std::size_t suite,
                     bool scripted);
  ordered_json group_json(const report::Report& report, const std::vector<std::size_t>& members,
                          std::size_t suite, const std::vector<Check>& checks);
  Status flush_rows();
  Status flush_details();
  Status put(const std::string& name, const ordered_json& document);
  Status write_suites(ordered_json& index);
  ordered_json difference_json(const report::Report& report, const SiteRun& run);

  const DataOptions& options_;
  const std::vector<const Catalog*>& catalogs_;
  DataSink& sink_;
  std::vector<std::unique_ptr<server::ServerServices>> services_;  // one for each store
  std::vector<std::map<std::string, Check>> checks_;               // of each store, by job
  std::vector<SiteRun> runs_;                                      // oldest first
  std::vector<SuiteOperators> suites_;
  ordered_json groups_ = ordered_json::array();
  std::vector<Base> bases_;
  ordered_json rows_ = ordered_json::array();
  std::string details_;  // the entries of the current part
  std::size_t details_entries_ = 0, details_parts_ = 0;
  /// Where the details of attempts without calls are, by their SHA-256. Equal ones are written
  /// once.
  std::map<std::string, std::pair<std::size_t, std::size_t>> details_of_none_;
  ordered_json row_parts_ = ordered_json::array();  // the number of attempts in each part
  DataSummary summary_;
};

const Catalog* DataWriter::catalog_of(const SuiteId& suite) const {
  for (const Catalog* catalog : catalogs_) {
    if (catalog->suite().digest == suite.digest) return catalog;
  }
  for (const Catalog* catalog : catalogs_) {
    if (catalog->suite().name == suite.name) return catalog;
  }
  return suite.name.empty() ? catalogs_.front() : nullptr;
}

SuiteOperators& DataWriter::suite_of(const SuiteId& suite) {
  for (SuiteOperators& known : suites_) {
    if (known.id == suite) return known;
  }
  suites_.push_back({suite, catalog_of(suite), {}, {}});
  return suites_.back();
}

Status DataWriter::add_runs(const DataStore& store) {
  ASSAY_TRY(services, server::open_store_to_read(store.path, *catalogs_.front()));
  ASSAY_TRY(known, services->store().runs());
  for (const std::string& wanted : store.runs.value_or(std::vector<std::string>())) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const tools::RunInfo& run) {
      return run.handle == wanted;
    });
    if (!is_known)
      return fail(ErrorCode::not_found, "unknown run '" + escape_text(wanted) + "' in " +
                                            store.path.string() + "; `assay runs` lists the runs");
  }
  for (auto run = known.rbegin(); run != known.rend(); ++run) {
    if (store.runs &&
        std::find(store.runs->begin(), store.runs->end(), run->handle) == store.runs->end())
      continue;
    ASSAY_TRY(devices, services->store().device_names(run->handle));
    ASSAY_TRY(provenance, services->store().provenance(run->handle));
    runs_.push_back({*run, services_.size(), devices.empty() ? kNoDevice : join(devices),
                     store.origin, provenance});
  }
  services_.push_back(std::move(services));
  checks_.push_back(store.checks);
  return {};
}

Check DataWriter::check_of(const report::ReportRow& row, const SiteRun& run) const {
  if (run.origin.empty()) return {run.provenance.empty() ? CheckState::own : CheckState::imported};
  const auto found = checks_[run.store].find(row.job);
  return found == checks_[run.store].end() ? Check() : found->second;
}

Status DataWriter::open(const std::vector<DataStore>& stores) {
  for (const DataStore& store : stores) ASSAY_RETURN_IF_ERROR(add_runs(store));
  if (runs_.empty() && !options_.live)
    return fail(ErrorCode::not_found, "the stores contain no run; `assay bench` makes one");
  std::stable_sort(runs_.begin(), runs_.end(), [](const SiteRun& one, const SiteRun& other) {
    return one.info.created_unix_ms < other.info.created_unix_ms;
  });
  summary_.runs = runs_.size();
  return {};
}

Status DataWriter::put(const std::string& name, const ordered_json& document) {
  ++summary_.parts;
  if (!options_.live) return sink_.put(name, text_of_json(document));
  ordered_json shown = document;
  remove_suite_digests(shown);
  return sink_.put(name, text_of_json(shown));
}

Status DataWriter::flush_rows() {
  if (rows_.empty()) return {};
  const std::string name = "attempts-" + std::to_string(row_parts_.size());
  row_parts_.push_back(rows_.size());
  return put(name, std::exchange(rows_, ordered_json::array()));
}

Status DataWriter::flush_details() {
  if (details_.empty()) return {};
  const std::string name = "details-" + std::to_string(details_parts_);
  ++details_parts_;
  ++summary_.parts;
  details_entries_ = 0;
  return sink_.put(name, "[" + std::exchange(details_, "") + "]");
}

Status DataWriter::add_attempt(const report::ReportRow& row, const SiteRun& run, std::size_t suite,
                               bool scripted) {
  SuiteOperators& operators = suites_[suite];
  server::Store& store = services_[run.store]->store();
  const std::int64_t most =
      options_.live ? options_.live->jobs_per_attempt : server::Store::kAllJobs;
  ASSAY_TRY(jobs, store.stored_jobs(run.info.handle, row.operator_name, most));
  const auto is_graded = [&row](const server::StoredJob& job) { return job.job == row.job; };
  auto graded = std::find_if(jobs.begin(), jobs.end(), is_graded);
  if (graded == jobs.end() && options_.live && !row.job.empty()) {  // it is older than the others
    if (Result<server::StoredJob> older = store.stored_job(row.job))
      graded = jobs.insert(jobs.begin(), std::move(*older));
  }
  const bool shows_sources = options_.sources == ShownSources::all ||
                             (options_.sources == ShownSources::models && !scripted);
  std::optional<transcripts::Transcript> transcript;
  if (shows_sources) {
    std::optional<std::size_t> most_bytes;
    if (options_.live) most_bytes = options_.live->transcript_bytes;
    ASSAY_TRY(found, shown_transcript(store, run.info.handle, row.operator_name, most_bytes));
    transcript = std::move(found);
  }
  // The store knows no call of an imported verdict, only its result.
  const bool has_calls = run.provenance.empty() && !jobs.empty();
  const std::string details =
      text_of_json(attempt_details(row, has_calls ? jobs : std::vector<server::StoredJob>(),
                                   operators.find(row.operator_name), shows_sources, transcript));
  const std::string sha256 = has_calls ? "" : sha256_hex(details);
  const auto same = has_calls ? details_of_none_.end() : details_of_none_.find(sha256);
  const bool is_new = same == details_of_none_.end();
  const auto [part, entry] = is_new ? std::pair(details_parts_, details_entries_) : same->second;
  if (is_new && !has_calls) details_of_none_.emplace(sha256, std::pair(part, entry));
  rows_.push_back(attempt_row({groups_.size(), operators.index_of(row.operator_name), part, entry},
                              row, graded == jobs.end() ? nullptr : &*graded, check_of(row, run)));
  if (is_new) {
    details_ += (details_.empty() ? "" : ",") + details;
    ++details_entries_;
  }
  ++summary_.attempts;
  if (details_.size() >= options_.details_part_bytes) ASSAY_RETURN_IF_ERROR(flush_details());
  return rows_.size() >= options_.attempts_per_part ? flush_rows() : Status();
}

ordered_json DataWriter::group_json(const report::Report& report,
                                    const std::vector<std::size_t>& members, std::size_t suite,
                                    const std::vector<Check>& checks) {
  ordered_json document = report::report_json(report);
  document.erase("operators");
  ordered_json samples = ordered_json::array();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const tools::RunInfo& run = runs_[members[i]].info;
    const tools::Usage& usage = report.sample_usage[i];
    samples.push_back(
        {{"run", run.handle},
         {"created_unix_ms", run.created_unix_ms},
         {"store", runs_[members[i]].store},
         {"input_tokens", usage.input_tokens},
         {"output_tokens", usage.output_tokens},
         {"cost_usd", usage.cost_known ? ordered_json(usage.cost_usd) : ordered_json()},
         {"known_cost_usd", usage.cost_usd}});
  }
  // For each operator: its index, the number of right samples, the best Perf.
  std::map<std::size_t, std::pair<std::int64_t, std::optional<double>>> solved;
  std::int64_t host_tier = 0;
  for (const report::ReportRow& row : report.rows) {
    auto& [right, best] = solved[suites_[suite].index_of(row.operator_name)];
    if (!row.verdict || row.verdict->outcome != sandbox::Outcome::pass) continue;
    ++right;
    host_tier += row.verdict->tier == sandbox::Tier::host ? 1 : 0;
    const std::optional<double> perf = tools::shown_perf(row.verdict->perf);
    if (perf && (!best || *perf > *best)) best = perf;
  }
  ordered_json cells = ordered_json::array();
  for (const auto& [index, cell] : solved)
    cells.push_back(ordered_json::array(
        {index, cell.first, cell.second ? ordered_json(*cell.second) : ordered_json()}));
  return {{"suite", suite},
          {"device_class", runs_[members.front()].device_class},
          {"origin", runs_[members.front()].origin},
          {"provenance", runs_[members.front()].provenance},
          {"unranked", why_unranked(report, checks)},
          {"host_tier", host_tier},
          {"note", report::note_of(report.answered_by)},
          {"samples", std::move(samples)},
          {"solved", std::move(cells)},
          {"difference", difference_json(report, runs_[members.front()])},
          {"report", std::move(document)}};
}

Status DataWriter::add_group(const std::vector<std::size_t>& members) {
  const SuiteId id = runs_[members.front()].info.suite_id;
  const Catalog* catalog = suite_of(id).catalog;
  const auto suite = static_cast<std::size_t>(
      std::find_if(suites_.begin(), suites_.end(),
                   [&id](const SuiteOperators& known) { return known.id == id; }) -
      suites_.begin());
  std::vector<tools::Scorecard> cards;
  for (const std::size_t member : members) {
    server::ServerServices& services = *services_[runs_[member].store];
    ASSAY_TRY(card, services.runs().scorecard_for_operator(runs_[member].info.handle));
    ASSAY_TRY(calls, services.store().judged_calls(card.run.handle));
    for (tools::OperatorScore& score : card.operators) {
      score.calls = std::move(calls[score.operator_name]);
      if (const operators::Operator* op =
              catalog == nullptr ? nullptr : catalog->find(score.operator_name))
        score.split = operators::to_string(op->split);
      else
        score.split.clear();  // an operator of the first catalog can have the same name
    }
    cards.push_back(std::move(card));
  }
  ASSAY_TRY(report, report::make_report(cards, catalog));
  cards.clear();
  if (options_.amend) ASSAY_RETURN_IF_ERROR(options_.amend(report));
  std::vector<Check> checks;
  for (const report::ReportRow& row : report.rows) {
    const std::size_t member = members[static_cast<std::size_t>(row.sample - 1)];
    checks.push_back(check_of(row, runs_[member]));
    ASSAY_RETURN_IF_ERROR(add_attempt(row, runs_[member], suite, report.scripted()));
  }
  groups_.push_back(group_json(report, members, suite, checks));
  return {};
}

/// Returns the difference of Pass@1 from the first group of the same suite, track, device class and
/// operators. Returns null for this first group.
ordered_json DataWriter::difference_json(const report::Report& report, const SiteRun& run) {
  for (const Base& base : bases_) {
    const tools::RunInfo& first = base.report.run;
    if (first.suite_id == run.info.suite_id && first.request.track == run.info.request.track &&
        base.device_class == run.device_class && report::have_same_operators(first, run.info))
      return {{"base", base.group},
              {"pass_at_1", report::estimate_json(report::pass_difference(base.report, report))}};
  }
  // A claim never becomes the base, because it could claim to be older than all other runs.
  if (!run.origin.empty()) return nullptr;
  Base base{groups_.size(), run.device_class, report};
  for (report::ReportRow& row : base.report.rows) row.verdict = nullptr;
  bases_.push_back(std::move(base));
  return nullptr;
}

Status DataWriter::write_suites(ordered_json& index) {
  for (std::size_t i = 0; i < suites_.size(); ++i) {
    const SuiteOperators& suite = suites_[i];
    ordered_json lines = ordered_json::array();
    ordered_json specs = ordered_json::array();
    for (const std::string& name : suite.names) {
      const operators::Operator* op = suite.find(name);
      lines.push_back(op == nullptr ? ordered_json{{"name", name}} : operator_line(*op));
      specs.push_back(op == nullptr ? ordered_json() : operator_spec(*op));
    }
    index["suites"].push_back(
        {{"name", suite.id.name},
         {"version", suite.id.version},
         {"digest", suite.id.digest},
         {"specs_are_of_this_digest",
          suite.catalog != nullptr && suite.catalog->suite().digest == suite.id.digest},
         {"operators", std::move(lines)}});
    ASSAY_RETURN_IF_ERROR(put("specs-" + std::to_string(i), specs));
  }
  return {};
}

Result<DataSummary> DataWriter::write() {
  for (const std::vector<std::size_t>& members : group_runs(runs_))
    ASSAY_RETURN_IF_ERROR(add_group(members));
  ASSAY_RETURN_IF_ERROR(flush_rows());
  ASSAY_RETURN_IF_ERROR(flush_details());
  summary_.groups = groups_.size();
  ordered_json index = {{"format", kDataFormat},
                        {"title", options_.title},
                        {"assay", options_.assay},
                        {"written_unix_ms", options_.written_unix_ms},
                        {"suites", ordered_json::array()},
                        {"metrics", metrics_json()},
                        {"attempt_columns", attempt_columns()},
                        {"attempt_parts", row_parts_},
                        {"details_parts", details_parts_},
                        {"sources", to_string(options_.sources)},
                        {"groups", std::move(groups_)}};
  if (options_.live)
    index["live"] = {{"snapshot", options_.live->snapshot},
                     {"revision", options_.live->revision},
                     {"runs_left_out", options_.live->runs_left_out}};
  ASSAY_RETURN_IF_ERROR(write_suites(index));
  ASSAY_RETURN_IF_ERROR(put("index", index));
  return summary_;
}

}  // namespace

Result<DataSummary> write_data(const DataOptions& options, const std::vector<DataStore>& stores,
                               const std::vector<const Catalog*>& catalogs, DataSink& sink) {
  DataWriter writer(options, catalogs, sink);
  ASSAY_RETURN_IF_ERROR(writer.open(stores));
  return writer.write();
}

Result<std::string> page_of(const Bundle& bundle, const DataOptions& options,
                            const DataStore& store, const Catalog& catalog) {
  PageSink sink;
  ASSAY_TRY(written, write_data(options, {store}, {&catalog}, sink));
  if (written.groups == 0) return fail(ErrorCode::not_found, "the store contains no run");
  return page_with(bundle, sink.data());
}

}  // namespace assay::site
