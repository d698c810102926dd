// Implements `assay import`, which takes what was made elsewhere. `assay import verdicts` and
// `assay import transcripts` write into a store. The other kinds, `assay import KIND DIR --out
// FOLDER`, create operator folders from the files of another benchmark. A script in importers/ does
// the work. The command replaces its own process with the script (exec), so the script's exit
// status is the exit status of the command. docs/how-to/add-an-importer.md shows how to add a
// script.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "sandbox/job/target.h"
#include "server/app/exit_status.h"
#include "server/app/files.h"
#include "server/app/workspace.h"
#include "server/bench/keep_transcripts.h"
#include "server/commands/commands.h"
#include "server/imports/verdict_file.h"
#include "server/store/store.h"

namespace assay::server {
namespace {

constexpr int kMostImportJobs = 64;
constexpr int kDefaultTimeoutS = 240;
constexpr int kMostTimeoutS = 86'400;
constexpr int kDefaultMemoryMib = 16'384;
constexpr int kLeastMemoryMib = 1'024;  // less than this is not enough for torch and Triton
constexpr int kMostMemoryMib = 1 << 20;
constexpr int kDefaultWorkloads = 8;
constexpr int kMostWorkloads = 1'000;
constexpr int kDefaultCaseMemoryMib = 20'480;  // a GPU needs about four times as much

/// A benchmark that can be imported.
struct Importer {
  const char* kind;    // the value of KIND on the command line
  const char* script;  // a file in importers/; import_files() says which arguments it accepts
  const char* help;
  const char* folder;  // the contents of the folder DIR, in words; messages use it
  // The target that launch plans are recorded for. The kernels of the ROCm benchmark have options
  // that only the compiler for AMD's GPUs knows.
  std::string_view target = sandbox::kDefaultTarget;
  bool has_workloads = false;  // the script accepts --workloads
  bool has_levels = false;     // the script imports one level of problems at a time
};

constexpr Importer kImporters[] = {
    {"tritonbench-g", "tritonbench/tritonbench_g.py",
     "Make a suite for --suite from the golden files of TritonBench-G",
     "data/TritonBench_G_v1 of thunlp/TritonBench"},
    {"geak-tritonbench", "tritonbench/geak_tritonbench.py",
     "Make a suite for --suite from TritonBench-modified, which GEAK made of TritonBench-G",
     "geak_eval/data/TritonBench/data/TritonBench_G_v1 of AMD-AIG-AIMA/GEAK-eval"},
    {"geak-rocm", "tritonbench/geak_rocm.py",
     "Make a suite for --suite from the ROCm Triton Benchmark of GEAK",
     "geak_eval/data/ROCm/data/ROCm_v1 of AMD-AIG-AIMA/GEAK-eval", "hip:gfx942"},
    {"tritonbench-t", "tritonbench/tritonbench_t.py",
     "Make a suite for --suite from the functions of PyTorch in TritonBench-T",
     "data/TritonBench_T_v1 of thunlp/TritonBench"},
    {"flashinfer-trace", "flashinfer/flashinfer_trace.py",
     "Make a suite for --suite from the definitions of a FlashInfer Trace dataset",
     "a dataset of FlashInfer Trace, with definitions/ and workloads/", sandbox::kDefaultTarget,
     /*has_workloads=*/true},
    {"sol-execbench", "sol_execbench/sol_execbench.py",
     "Make a suite for --suite from the problems of SOL-ExecBench",
     "data/benchmark of NVIDIA/SOL-ExecBench, or a folder with problems", sandbox::kDefaultTarget,
     /*has_workloads=*/true},
    {"kernelbench", "kernelbench/kernelbench.py",
     "Make a suite for --suite from the problems of KernelBench",
     "a checkout of ScalingIntelligence/KernelBench", sandbox::kDefaultTarget,
     /*has_workloads=*/false, /*has_levels=*/true},
};

struct ImportOptions {
  std::string folder, out;
  std::string target;
  int jobs = 1;
  int timeout_s = kDefaultTimeoutS;
  int memory_mib = kDefaultMemoryMib;
  int level = 0;  // only for an importer with levels
  int case_memory_mib = kDefaultCaseMemoryMib;
  std::string isolation = "best-effort";
  bool again = false;
  int workloads = kDefaultWorkloads;
  std::vector<std::string> only;
};

int import_files(const Importer& importer, const ImportOptions& options) {
  const std::string name = std::string("import ") + importer.kind;
  const char* command = name.c_str();
  const Result<Paths> paths = find_paths();
  if (!paths) return print_error(command, kBadConfig, paths.error().message);
  std::error_code error;
  if (!std::filesystem::is_directory(options.folder, error))
    return print_error(command, kNoInput,
                       options.folder + " is not a folder; it is " + importer.folder);
  std::vector<std::string> words = {paths->python.string(),
                                    (paths->root / "importers" / importer.script).string(),
                                    options.folder,
                                    "--out",
                                    options.out,
                                    "--target",
                                    options.target,
                                    "--jobs",
                                    std::to_string(options.jobs),
                                    "--timeout-s",
                                    std::to_string(options.timeout_s),
                                    "--memory-mib",
                                    std::to_string(options.memory_mib),
                                    "--isolation",
                                    options.isolation,
                                    "--build",
                                    paths->binaries.parent_path().string()};
  if (importer.has_workloads)
    words.insert(words.end(), {"--workloads", std::to_string(options.workloads)});
  if (importer.has_levels) {
    words.insert(words.end(), {"--level", std::to_string(options.level), "--case-memory-mib",
                               std::to_string(options.case_memory_mib)});
  }
  if (options.again) words.emplace_back("--again");
  for (const std::string& file : options.only) words.insert(words.end(), {"--only", file});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  return print_error(command, kUnavailable,
                     "execute " + words.front() + ": " + std::strerror(errno));
}

struct StoreImportOptions {
  std::string input, store;
  std::vector<std::string> models;
};

int status_of_import_error(const Error& error) {
  if (error.code == ErrorCode::not_found) return kNoInput;
  return error.code == ErrorCode::corrupt || error.code == ErrorCode::resource_exhausted ||
                 error.code == ErrorCode::invalid_argument
             ? kBadData
             : kStoreUnusable;
}

Result<std::unique_ptr<Store>> open_store(const StoreImportOptions& options) {
  if (!options.store.empty()) return Store::open(options.store, StoreMode::read_write);
  ASSAY_TRY(paths, find_paths());
  return Store::open(paths.default_store(), StoreMode::read_write);
}

int import_verdicts(const StoreImportOptions& options) {
  constexpr const char* kCommand = "import verdicts";
  const Result<std::string> text = read_file_bytes(
      options.input, static_cast<std::int64_t>(imports::VerdictFileLimits{}.file_bytes),
      "a file of verdicts");
  if (!text)
    return print_error(kCommand, status_of_import_error(text.error()), text.error().message);
  const Result<imports::VerdictFile> file = imports::parse_verdict_file(*text);
  if (!file)
    return print_error(kCommand, status_of_import_error(file.error()), file.error().message);
  const auto store = open_store(options);
  if (!store) return print_error(kCommand, kStoreUnusable, store.error().message);
  const Result<std::size_t> runs = imports::import_verdicts(**store, *file, options.models);
  if (!runs)
    return print_error(kCommand,
                       runs.error().code == ErrorCode::not_found
                           ? kUnknownName
                           : status_of_import_error(runs.error()),
                       runs.error().message);
  std::printf("%s: %zu runs\n", options.input.c_str(), *runs);
  return kPass;
}

int import_transcripts(const StoreImportOptions& options) {
  constexpr const char* kCommand = "import transcripts";
  const auto benches = bench::find_benches(options.input);
  if (!benches)
    return print_error(kCommand, status_of_import_error(benches.error()), benches.error().message);
  const auto store = open_store(options);
  if (!store) return print_error(kCommand, kStoreUnusable, store.error().message);
  std::size_t kept = 0, refused = 0;
  for (const bench::RecordedBench& one : *benches) {
    const auto some = bench::keep_transcripts(**store, one, system_clock());
    if (!some)
      return print_error(kCommand, status_of_import_error(some.error()), some.error().message);
    for (const std::string& why : some->refused) stderr_line("left out: " + why);
    kept += some->kept;
    refused += some->refused.size();
  }
  std::printf("%s: %zu transcripts\n", options.input.c_str(), kept);
  if (refused == 0) return kPass;
  return print_error(kCommand, kBadData, std::to_string(refused) + " transcripts are left out");
}

void add_store_imports(CLI::App& group, int& status) {
  constexpr const char* kStoreHelp = "the store to write to (default: the user's)";
  auto verdicts = std::make_shared<StoreImportOptions>();
  CLI::App* command = group.add_subcommand(
      "verdicts", "Add runs to a store from a file with verdicts, marked with where they are from");
  command->add_option("file", verdicts->input, "a file of the format assay.verdicts/1")->required();
  command->add_option("--store", verdicts->store, kStoreHelp);
  command
      ->add_option("--model", verdicts->models,
                   "add only the runs of this model; may be repeated (default: all)")
      ->allow_extra_args(false);
  command->callback([verdicts, &status] { status = import_verdicts(*verdicts); });
  auto transcripts = std::make_shared<StoreImportOptions>();
  command = group.add_subcommand("transcripts",
                                 "Add the transcripts of a bench to the store that has its runs");
  command->add_option("folder", transcripts->input, "the folder --out of the bench")->required();
  command->add_option("--store", transcripts->store, kStoreHelp);
  command->callback([transcripts, &status] { status = import_transcripts(*transcripts); });
}

}  // namespace

void add_import(CLI::App& app, int& status) {
  CLI::App* group = app.add_subcommand("import",
                                       "Make operators from the files of another benchmark, "
                                       "or add verdicts or transcripts to a store");
  group->require_subcommand(1);
  add_store_imports(*group, status);
  for (const Importer& importer : kImporters) {
    auto options = std::make_shared<ImportOptions>();
    options->target = importer.target;
    CLI::App* command = group->add_subcommand(importer.kind, importer.help);
    command->add_option("folder", options->folder, importer.folder)->required();
    command->add_option("--out", options->out, "the folder of the suite; created if it is missing")
        ->required();
    command
        ->add_option("--target", options->target, "the target that launch plans are recorded for")
        ->capture_default_str();
    command
        ->add_option("--jobs", options->jobs,
                     "files to import at once; each takes a core and a few GiB")
        ->check(CLI::Range(1, kMostImportJobs))
        ->capture_default_str();
    command
        ->add_option("--timeout-s", options->timeout_s,
                     "seconds for the import of one file, with its compilers")
        ->check(CLI::Range(1, kMostTimeoutS))
        ->capture_default_str();
    command
        ->add_option("--memory-mib", options->memory_mib,
                     "private memory of each process of a file's import")
        ->check(CLI::Range(kLeastMemoryMib, kMostMemoryMib))
        ->capture_default_str();
    if (importer.has_levels) {
      command->add_option("--level", options->level, "the level of the problems to import")
          ->required()
          ->check(CLI::IsMember({1, 2, 3}));
      command
          ->add_option("--case-memory-mib", options->case_memory_mib,
                       "refuse a problem whose tensors have more than this")
          ->check(CLI::Range(1, kMostMemoryMib))
          ->capture_default_str();
    }
    command
        ->add_option("--isolation", options->isolation,
                     "strict refuses to import if the machine lacks an isolation layer")
        ->check(CLI::IsMember({"strict", "best-effort"}))
        ->capture_default_str();
    command->add_flag("--again", options->again,
                      "also import the files that an earlier import into --out has finished");
    command->add_option("--only", options->only, "import this file again; may be repeated")
        ->allow_extra_args(false);
    if (importer.has_workloads)
      command
          ->add_option("--workloads", options->workloads,
                       "the most workloads of a definition that become cases; the smallest and the "
                       "largest are among them")
          ->check(CLI::Range(1, kMostWorkloads))
          ->capture_default_str();
    command->callback([&importer, options, &status] { status = import_files(importer, *options); });
  }
}

}  // namespace assay::server
