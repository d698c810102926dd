#include "server/site/live_pages.h"

#include <charconv>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "server/app/files.h"
#include "server/mcp/protocol/protocol.h"
#include "server/site/write_data.h"

namespace assay::site {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kState = "/live/state";
constexpr std::string_view kEvents = "/live/events";
constexpr std::string_view kData = "/live/data/";
constexpr std::int64_t kMaxFileBytes = 16U << 20;  // of one file of the bundle
constexpr std::size_t kMaxStates = 64;             // principals whose last state is kept

/// Returns headers that keep a browser from guessing types, from showing the pages in a frame of
/// another site, and from keeping data that belongs to a token.
std::vector<std::pair<std::string, std::string>> page_headers() {
  return {{"Cache-Control", "no-store"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Frame-Options", "DENY"}};
}

mcp::Reply json_reply(std::string body) {
  return {.status = 200, .body = std::move(body), .headers = page_headers()};
}

mcp::Reply not_found(const std::string& why) {
  mcp::Reply reply = mcp::error_reply(404, mcp::kInvalidRequest, why);
  reply.headers = page_headers();
  return reply;
}

std::string one_line(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Keeps the parts in memory, up to a number of bytes.
class MapSink final : public DataSink {
 public:
  explicit MapSink(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  Status put(const std::string& name, const std::string& text) override {
    bytes_ += text.size();
    if (bytes_ > max_bytes_)
      return fail(ErrorCode::resource_exhausted, "the data is larger than " +
                                                     std::to_string(max_bytes_) +
                                                     " bytes; `assay site` writes it into files");
    parts_[name] = text;
    return {};
  }
  Snapshots::Parts take() { return std::move(parts_); }

 private:
  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  Snapshots::Parts parts_;
};

ordered_json job_json(const server::StoredJobs::Unfinished& job) {
  const tools::JobStatus& status = job.status;
  ordered_json shown = {{"job", status.job},
                        {"run", status.run},
                        {"operator", job.operator_name},
                        {"kind", sandbox::to_string(job.kind)},
                        {"device", job.device},
                        {"state", tools::to_string(status.state)},
                        {"position", status.queue_position}};
  // The stage of a grade says when the hidden cases begin, so a grade only runs.
  if (job.kind != sandbox::JobKind::grade && status.state == tools::JobState::running) {
    shown["stage"] = status.stage;
    shown["cases_done"] = status.cases_done;
    shown["cases_total"] = status.cases_total;
  }
  return shown;
}

std::string unreadable(const Error& error) {
  log::error("the live pages cannot read the store", {{"error", error.message}});
  return "";
}

ordered_json run_json(const server::RunProgress& progress) {
  const tools::RunInfo& run = progress.run;
  return {{"run", run.handle},
          {"agent", run.request.agent},
          {"model", run.request.model},
          {"track", tools::to_string(run.request.track)},
          {"operators", run.operators.size()},
          {"submitted", progress.submitted},
          {"passed", progress.passed},
          {"calls", progress.calls},
          {"created_unix_ms", run.created_unix_ms},
          {"expires_unix_ms", run.expires_unix_ms},
          {"last_unix_ms", progress.last_unix_ms}};
}

}  // namespace

Result<std::unique_ptr<LivePages>> LivePages::make(const Bundle& bundle, LiveOptions options,
                                                   server::ServerServices& services,
                                                   const Clock& clock) {
  struct File {
    const char* path;
    const char* name;
    const char* type;
  };
  std::map<std::string, mcp::Reply, std::less<>> files;
  for (const File& file : {File{"/", "live.html", "text/html; charset=utf-8"},
                           File{"/assets/site.js", "site.js", "text/javascript; charset=utf-8"},
                           File{"/assets/site.css", "site.css", "text/css; charset=utf-8"}}) {
    ASSAY_TRY(text, server::read_file_bytes((bundle.folder / file.name).string(), kMaxFileBytes,
                                            "a file of the pages"));
    mcp::Reply& reply = files[file.path];
    reply.body = std::move(text);
    reply.headers = page_headers();
    reply.content_type = file.type;
  }
  return std::unique_ptr<LivePages>(
      new LivePages(std::move(files), std::move(options), services, clock));
}

LivePages::LivePages(std::map<std::string, mcp::Reply, std::less<>> files, LiveOptions options,
                     server::ServerServices& services, const Clock& clock)
    : files_(std::move(files)),
      options_(std::move(options)),
      services_(services),
      clock_(clock),
      readers_(options_.limits.readers),
      snapshots_(
          [this](const std::string& principal, std::int64_t number, const std::string& revision) {
            return make_parts(principal, number, revision);
          },
          options_.limits.snapshots, clock) {}

mcp::HttpPages::Access LivePages::access_of(std::string_view path) const {
  if (files_.find(path) != files_.end()) return Access::open;
  if (path == kEvents) return Access::events;
  return path == kState || path.starts_with(kData) ? Access::guarded : Access::none;
}

mcp::Reply LivePages::reply(std::string_view path, const std::string& principal) {
  if (const auto file = files_.find(path); file != files_.end()) return file->second;
  const ShareLimiter::Pass pass = readers_.enter(principal);
  if (!pass) return mcp::busy_reply(pass.refusal(), "pages are being read");
  if (path == kState) {
    std::string state = state_of(principal);
    return state.empty() ? mcp::busy_reply("the store cannot be read")
                         : json_reply(std::move(state));
  }
  return data(path.substr(kData.size()), principal);
}

/// Answers "index" with the newest snapshot, and "NUMBER/PART" with a part of a kept one.
mcp::Reply LivePages::data(std::string_view path, const std::string& principal) {
  if (path == "index") {
    const Result<std::string> revision = services_.store().revision_of(principal);
    if (!revision) return mcp::busy_reply("the store cannot be read");
    const auto newest = snapshots_.newest(principal, *revision);
    if (newest) return json_reply((*newest)->parts.at("index"));
    log::error("the live pages have no data", {{"error", newest.error().message}});
    return mcp::busy_reply("the data cannot be written; the server's log has the details");
  }
  std::int64_t number = 0;
  const char* end = path.data() + path.size();
  const auto [stopped, error] = std::from_chars(path.data(), end, number);
  const bool numbered = error == std::errc() && stopped != end && *stopped == '/';
  const auto snapshot = numbered ? snapshots_.find(principal, number) : nullptr;
  if (!snapshot) return not_found("there is no such snapshot; read /live/data/index again");
  const auto part = snapshot->parts.find(std::string(stopped + 1, end));
  if (part == snapshot->parts.end()) return not_found("the snapshot has no such part");
  return json_reply(part->second);
}

Result<Snapshots::Parts> LivePages::make_parts(const std::string& principal, std::int64_t number,
                                               const std::string& revision) {
  const auto note_read = [&] {
    if (options_.verdicts_read) options_.verdicts_read(principal);
  };
  note_read();
  ASSAY_TRY(known, services_.store().runs_of(principal));
  std::size_t most = options_.limits.data_runs;
  while (true) {
    std::vector<std::string> runs;
    for (const tools::RunInfo& run : known) {
      if (runs.size() < most) runs.push_back(run.handle);
    }
    DataOptions data;
    data.title = options_.title;
    data.assay = options_.assay;
    data.written_unix_ms = clock_.unix_ms();
    data.live = LiveData{number, revision, known.size() - runs.size()};
    MapSink sink(options_.limits.snapshot_bytes);
    const auto written =
        write_data(data, {{options_.store, std::move(runs)}}, {options_.catalog}, sink);
    note_read();
    if (written) return sink.take();
    if (written.error().code != ErrorCode::resource_exhausted || most <= 1)
      return fail(written.error());
    most /= 2;
  }
}

/// Returns the state. Reads the runs only if the store has changed since they were read.
std::string LivePages::read_state(const std::string& principal, State& known) {
  const auto revision = services_.store().revision_of(principal);
  if (revision && (known.revision != *revision || known.text.empty())) {
    auto runs = services_.store().progress_of_runs(principal, options_.limits.shown_runs);
    if (!runs) return unreadable(runs.error());
    known.runs = std::move(*runs);
    known.revision = *revision;
  }
  if (!revision) return unreadable(revision.error());
  ordered_json state = {{"format", "assay.live/1"},      {"principal", principal},
                        {"revision", *revision},         {"devices", ordered_json::array()},
                        {"jobs", ordered_json::array()}, {"runs", ordered_json::array()}};
  for (const server::StoredJobs::Load& load : services_.jobs().load())
    state["devices"].push_back({{"name", load.device},
                                {"description", load.description},
                                {"queued", load.queued},
                                {"running", load.running}});
  const tools::Principal owner{.name = principal};
  std::set<std::string> busy;
  for (const server::StoredJobs::Unfinished& job : services_.jobs().unfinished_of(owner)) {
    state["jobs"].push_back(job_json(job));
    busy.insert(job.status.run);
  }
  for (const server::RunProgress& run : known.runs) {
    state["runs"].push_back(run_json(run));
    state["runs"].back()["busy"] = busy.count(run.run.handle) > 0;
  }
  return one_line(state);
}

std::string LivePages::state_of(const std::string& principal) {
  // The mutex stays locked while the store is read, so that many streams cause one read.
  const MutexLock lock(mutex_);
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (states_.size() >= kMaxStates && states_.count(principal) == 0) states_.clear();
  State& state = states_[principal];
  if (state.read_ns == 0 || now_ns - state.read_ns >= options_.limits.state_age_ms * kNsPerMs) {
    state.text = read_state(principal, state);
    state.read_ns = now_ns;
  }
  return state.text;
}

void LivePages::send_events(const std::string& principal,
                            const std::function<void(std::string_view data)>& send,
                            const std::stop_token& stop) {
  const std::int64_t end_ns = clock_.monotonic_ns() + options_.limits.stream_ms * kNsPerMs;
  std::string last;
  while (!stop.stop_requested() && clock_.monotonic_ns() < end_ns) {
    std::string now = state_of(principal);
    if (!now.empty() && now != last) {
      send(now);
      last = std::move(now);
    }
    clock_.pause(std::chrono::milliseconds(options_.limits.state_age_ms), stop);
  }
}

}  // namespace assay::site
