// ShareSettings are the weights and limits of tokens and runs, and the reserve for clients that
// wait (docs/reference/limits.md). server/edge/shares_file.h reads them from a file.
//
//   ShareSettings settings;
//   settings.tokens["trainer"] = {.weight = 1, .running = 48};
//   settings.token("trainer").weight;  // 1
//   settings.reserved(64);             // 0: no place is kept
//
// A plain value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace assay::server {

struct ShareSettings {
  struct Member {
    double weight = 1;                        // its part of the time is in proportion to this
    std::optional<std::size_t> queued = {};   // the most waiting jobs of one device
    std::optional<std::size_t> running = {};  // the most running jobs of one device

    bool operator==(const Member&) const = default;
  };

  double reserve = 0;      // the share of a device's places that batch jobs leave free
  Member each_token = {};  // of tokens that `tokens` does not name
  Member each_run = {};    // of runs that `runs` does not name
  std::map<std::string, Member> tokens = {}, runs = {};

  /// Returns the settings of a token. The empty name, of a server without tokens, has no limits.
  const Member& token(const std::string& name) const { return find(tokens, name, each_token); }
  /// Returns the settings of a run. The empty name, of practice without a run, has no limits.
  const Member& run(const std::string& name) const { return find(runs, name, each_run); }
  /// Returns how many of `places` batch jobs leave free. At least one place is for them.
  int reserved(int places) const {
    return std::min(static_cast<int>(std::ceil(reserve * places)), places - 1);
  }

  bool operator==(const ShareSettings&) const = default;

 private:
  static const Member& find(const std::map<std::string, Member>& named, const std::string& name,
                            const Member& each) {
    static const Member unlimited;
    if (name.empty()) return unlimited;
    const auto found = named.find(name);
    return found == named.end() ? each : found->second;
  }
};

}  // namespace assay::server
