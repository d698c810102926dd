// Implements `assay demo`: judges seven submissions as a server does, one line for each, and writes
// a page with the results. Two of the submissions are a cheat and an attempt to escape.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "sandbox/device/choose_device.h"
#include "sandbox/device/make_device.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/app/option_groups.h"
#include "server/app/report_source.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"
#include "server/report/model/rows.h"
#include "server/runs/services.h"
#include "server/site/bundle.h"
#include "server/site/write_data.h"
#include "tools/model/operator_job.h"

namespace assay::server {
namespace {

namespace fs = std::filesystem;
using report::Label;
using sandbox::ErrorKind;
using sandbox::Verdict;

constexpr const char* kDemo = "demo";
constexpr std::int64_t kWaitMs = 20'000;  // of one call of wait(), which is repeated

struct DemoOptions {
  std::string device = sandbox::kAutoDevice;
  std::string out = "bench-out/demo";
  SandboxOptions sandbox;
};

/// One submission of the demo.
struct DemoEntry {
  const char* operator_name;
  const char* source;  // relative to the root of Assay's tree
  /// What the submission tries to reach outside of its sandbox. It passes only if it reaches
  /// nothing. "" means that it tries nothing.
  const char* attempt;
};

constexpr std::array<DemoEntry, 7> kEntries = {{
    {"vector_add", "operators/standard/vector_add/oracle.py", ""},
    {"layer_norm_fwd", "operators/standard/layer_norm_fwd/oracle.py", ""},
    {"cumsum_last_dim", "server/commands/demo/cumsum_last_dim.py", ""},
    {"softmax_last_dim", "server/commands/demo/softmax_last_dim.py", ""},
    {"matmul_fp16", "server/commands/demo/matmul_fp16.py", ""},
    {"vector_add", "server/commands/demo/cheat.py", ""},
    {"vector_add", "server/commands/demo/escape.py",
     "tried to reach the network, ~/.ssh and /etc/shadow, and reached nothing"},
}};

enum class Colour { none, green, yellow, red };

struct DemoWord {
  const char* text;
  Colour colour;
};

DemoWord word_of(const DemoEntry& entry, const Verdict& verdict) {
  if (*entry.attempt != '\0' && verdict.outcome == sandbox::Outcome::pass)
    return {"CONTAINED", Colour::green};
  if (verdict.error_kind == ErrorKind::unattributed ||
      verdict.error_kind == ErrorKind::not_recordable)
    return {"REFUSED", Colour::red};
  switch (report::label_of(verdict.outcome, verdict.error_kind, verdict.stage, verdict.hints)) {
    case Label::pass: return {"PASS", Colour::green};
    case Label::slow: return {"SLOW", Colour::yellow};
    case Label::wrong: return {"WRONG", Colour::red};
    case Label::no_compile: return {"NO BUILD", Colour::red};
    case Label::needs_gpu: return {"NEEDS GPU", Colour::yellow};
    default: return {"ERROR", Colour::red};
  }
}

bool is_coloured() { return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

std::string coloured(const std::string& text, Colour colour) {
  if (colour == Colour::none || !is_coloured()) return text;
  const char* code = colour == Colour::green ? "32" : colour == Colour::yellow ? "33" : "31";
  return std::string("\033[") + code + "m" + text + "\033[0m";
}

constexpr std::size_t kWidth = 80;  // columns of a terminal
constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kTextLines = 3;  // lines of one explanation

/// Returns the text in lines that fit beside the first columns. A text that is too long for its
/// lines is cut.
std::vector<std::string> lines_of(const std::string& text) {
  const std::string shown = cut_end(text, kTextLines * (kWidth - kTextColumn) - 20);
  std::vector<std::string> lines(1);
  for (const std::string& word : split(shown, " ")) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kWidth - kTextColumn)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

void print(const DemoEntry& entry, const Verdict& verdict) {
  const DemoWord word = word_of(entry, verdict);
  const bool contained = *entry.attempt != '\0' && verdict.outcome == sandbox::Outcome::pass;
  std::string padded = word.text;
  padded.resize(9, ' ');
  const std::vector<std::string> lines =
      lines_of(contained ? entry.attempt : report::explanation_of(verdict));
  std::printf("  %s %-17s %s\n", coloured(padded, word.colour).c_str(), entry.operator_name,
              lines.front().c_str());
  for (std::size_t i = 1; i < lines.size(); ++i)
    std::printf("%*s%s\n", static_cast<int>(kTextColumn), "", lines[i].c_str());
  std::fflush(stdout);
}

/// Queues the submissions of the demo in a new run. Returns the run, and the jobs in the order of
/// kEntries.
Result<std::pair<std::string, std::vector<std::string>>> submit_all(ServerServices& services,
                                                                    const Workspace& workspace,
                                                                    const DemoOptions& options) {
  tools::RunRequest request{.agent = "demo", .model = "none", .track = tools::Track::practice};
  request.suite.clear();
  for (const DemoEntry& entry : kEntries) {
    if (request.suite.find(entry.operator_name) == std::string::npos)
      request.suite += (request.suite.empty() ? "" : ",") + std::string(entry.operator_name);
  }
  ASSAY_TRY(run, services.runs().start({}, request));
  std::vector<std::string> handles;
  for (const DemoEntry& entry : kEntries) {
    const operators::Operator* op = workspace.catalog.find(entry.operator_name);
    if (op == nullptr) return fail(workspace.catalog.unknown(entry.operator_name));
    ASSAY_TRY(source, read_source((workspace.paths.root / entry.source).string(),
                                  sandbox::Limits{}.source_bytes));
    sandbox::Job job = tools::operator_job(*op, sandbox::JobKind::grade, std::move(source));
    job.limits = options.sandbox.limits;
    ASSAY_TRY(handle, services.jobs().submit({}, std::move(job), run.handle, ""));
    handles.push_back(std::move(handle));
  }
  return std::pair(run.handle, std::move(handles));
}

/// Waits for the verdict that a client gets.
Result<std::shared_ptr<const Verdict>> verdict_of_job(ServerServices& services,
                                                      const std::string& job) {
  for (;;) {
    ASSAY_TRY(status, services.jobs().wait({}, job, kWaitMs, nullptr));
    if (status.verdict) return status.verdict;
  }
}

Status write_page(const fs::path& store, const Workspace& workspace, const std::string& run,
                  const fs::path& page) {
  ASSAY_TRY(bundle, site::find_bundle(workspace.paths.root));
  site::DataOptions data;
  data.sources = site::ShownSources::all;  // the sources are those of the demonstration
  data.title = "The demo of Assay";
  data.assay = ASSAY_VERSION;
  data.written_unix_ms = system_clock().unix_ms();
  ASSAY_TRY(text,
            site::page_of(bundle, data, {store, std::vector<std::string>{run}}, workspace.catalog));
  std::ofstream file(page, std::ios::binary);
  file << text << std::flush;
  return file ? Status() : fail(ErrorCode::io, "cannot write " + page.string());
}

int demo(const DemoOptions& options) {
  int status = kPass;
  const std::optional<Workspace> workspace = open_workspace(kDemo, status);
  if (!workspace) return status;
  const Result<sandbox::SandboxConfig> config = sandbox_config(options.sandbox, workspace->paths);
  if (!config) return print_error(kDemo, kUsage, config.error().message);
  if (const Status known = sandbox::check_device_option(options.device); !known)
    return print_error(kDemo, kUnknownName, known.error().message);
  auto device = sandbox::make_device(sandbox::choose_device(options.device, *config).name, *config);
  if (!device)
    return print_error(kDemo, status_of_device_error(device.error()), device.error().message);
  const sandbox::DeviceInfo info = (*device)->info();
  Devices devices;
  devices.emplace_back(info.name, std::move(*device));
  std::error_code code;
  fs::create_directories(options.out, code);
  const fs::path store = fs::path(options.out) / "assay.db";
  auto services = ServerServices::open(store, workspace->catalog, std::move(devices));
  if (!services) return print_error(kDemo, kStoreUnusable, services.error().message);
  std::printf("Assay %s judges %zu submissions on the device %s\n", ASSAY_VERSION, kEntries.size(),
              info.name.c_str());
  std::fflush(stdout);
  const auto submitted = submit_all(**services, *workspace, options);
  if (!submitted) return print_error(kDemo, kInternal, submitted.error().message);
  std::size_t missing_layers = 0;
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    const auto verdict = verdict_of_job(**services, submitted->second[i]);
    if (!verdict) return print_error(kDemo, kInternal, verdict.error().message);
    print(kEntries[i], **verdict);
    missing_layers = (*verdict)->provenance.missing_layers.size();
    if (sandbox::is_infrastructure_error((*verdict)->error_kind)) status = kError;
  }
  services->reset();  // the report reads the store
  const fs::path page = fs::path(options.out) / "report.html";
  const Status written = write_page(store, *workspace, submitted->first, page);
  // Without Node.js there is no bundle of the pages. The verdicts are complete without it.
  if (!written && written.error().code != ErrorCode::unavailable)
    return print_error(kDemo, kUnavailable, written.error().message);
  if (missing_layers > 0)
    std::printf("%zu layers of the sandbox are missing here; `assay doctor` names them.\n",
                missing_layers);
  const std::string program = (workspace->paths.binaries / "assay").string();
  std::printf(
      "Page:  %s\nYours: %s eval vector_add my_kernel.py\n"
      "Model: %s bench --model openai-compatible:MODEL --operators vector_add,relu\n",
      written ? page.string().c_str() : ("none: " + written.error().message).c_str(),
      program.c_str(), program.c_str());
  return status;
}

}  // namespace

void add_demo(CLI::App& app, int& status) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "Judge seven submissions, among them a cheat and an attempt to escape");
  command->add_option("--device", options->device, sandbox::device_option_help())
      ->capture_default_str();
  command->add_option("--out", options->out, "the folder for the page and the store")
      ->capture_default_str();
  add_sandbox_options(*command, options->sandbox);
  command->callback([options, &status] { status = demo(*options); });
}

}  // namespace assay::server
