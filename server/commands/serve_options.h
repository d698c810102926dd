// Defines the options of `assay serve`, which the command itself and --print-config use. A plain
// value.
//
//   ServeOptions options;
//   options.devices = {"cpu"};
//   const int status = print_config(options);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/device/choose_device.h"
#include "server/app/option_groups.h"
#include "server/app/store_options.h"
#include "server/commands/worker_pools.h"
#include "server/edge/http_settings.h"
#include "server/observe/observe_options.h"

namespace assay::server {

// The time that jobs in progress have to end after the first SIGTERM, in seconds. Most jobs end
// within some seconds, and a service manager such as systemd kills a process after 90 seconds.
inline constexpr std::int64_t kDefaultDrainS = 30;
inline constexpr std::int64_t kMostDrainS = 86'400;

struct ServeOptions {
  bool stdio = false;
  HttpFlags http;
  std::vector<std::string> devices = {sandbox::kAutoDevice};
  bool devices_given = false;  // the command line or a configuration names devices
  WorkerPoolOptions workers;
  std::string shares_file;  // weights and limits of tokens and runs; empty: all are equal
  std::string store;
  bool require_store = false;
  StoreLimitOptions limits;
  SandboxOptions sandbox;
  LogOptions log;
  ObserveFlags observe;
  std::string print_config;  // the name of a client; empty: serve
  std::string config_file;   // the file that gets the configuration; empty: stdout
  bool conformance = false;
  std::int64_t drain_s = kDefaultDrainS;
  std::string suite;
  std::string source_folder;  // the tools read files of this folder; empty: no files
};

}  // namespace assay::server
