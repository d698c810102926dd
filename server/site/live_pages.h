// LivePages serves the site from the store of a running server: `/` is the page, /live/data/... is
// the data (docs/reference/site-data.md), /live/state says what runs now, and /live/events sends
// the state whenever it changes. With tokens, a client gets only the runs and jobs of its own
// token. Without tokens, every client is the same principal.
//
//   const Result<std::unique_ptr<LivePages>> pages =
//       LivePages::make(bundle, {.store = path, .catalog = &catalog}, services);
//   options.pages = pages->get();
//
// Thread-safe. The services, the catalog and the clock must outlive the object.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "server/mcp/core/share_limiter.h"
#include "server/mcp/http/http_pages.h"
#include "server/runs/services.h"
#include "server/site/bundle.h"
#include "server/site/snapshots.h"

namespace assay::site {

/// Limits of the live pages. docs/reference/limits.md describes them.
struct LiveLimits {
  std::size_t data_runs = 100;             // newest runs of a principal that its data has
  std::size_t snapshot_bytes = 64U << 20;  // of one snapshot; with more, fewer runs are in it
  std::int64_t shown_runs = 20;            // newest runs of a principal in its state
  std::int64_t state_age_ms = 500;         // the state is read again after this time
  std::int64_t stream_ms = 600'000;        // then a stream ends, so that its token is checked again
  ShareLimiter::Places readers = {64, 16};  // simultaneous requests for data and states
  SnapshotLimits snapshots = {};
};

struct LiveOptions {
  std::filesystem::path store;
  const operators::Catalog* catalog = nullptr;
  std::string title = "Assay, live";
  std::string assay = {};  // the version of Assay
  LiveLimits limits = {};
  /// Is called before and after the verdicts of a principal's jobs are read for it, so that each
  /// verdict that is read had ended before one of the calls. May be null.
  std::function<void(const std::string& principal)> verdicts_read = nullptr;
};

class LivePages final : public mcp::HttpPages {
 public:
  /// Reads the files of the bundle. Error: io.
  static Result<std::unique_ptr<LivePages>> make(const Bundle& bundle, LiveOptions options,
                                                 server::ServerServices& services,
                                                 const Clock& clock = system_clock());

  Access access_of(std::string_view path) const override;
  mcp::Reply reply(std::string_view path, const std::string& principal) override;
  void send_events(const std::string& principal,
                   const std::function<void(std::string_view data)>& send,
                   const std::stop_token& stop) override;

 private:
  struct State {
    std::string text;  // JSON in one line; empty: the store cannot be read
    std::int64_t read_ns = 0;
    /// The progress of runs, and the revision of the store from which it is.
    std::string revision = {};
    std::vector<server::RunProgress> runs = {};
  };

  LivePages(std::map<std::string, mcp::Reply, std::less<>> files, LiveOptions options,
            server::ServerServices& services, const Clock& clock);
  mcp::Reply data(std::string_view path, const std::string& principal);
  std::string state_of(const std::string& principal);
  std::string read_state(const std::string& principal, State& state);
  Result<Snapshots::Parts> make_parts(const std::string& principal, std::int64_t number,
                                      const std::string& revision);

  const std::map<std::string, mcp::Reply, std::less<>> files_;  // by path
  const LiveOptions options_;
  server::ServerServices& services_;
  const Clock& clock_;
  ShareLimiter readers_;
  Snapshots snapshots_;
  Mutex mutex_;
  std::map<std::string, State> states_ ASSAY_GUARDED_BY(mutex_);  // by principal
};

}  // namespace assay::site
