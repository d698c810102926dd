// `assay import tritonbench-g DIR --out FOLDER`: operator folders from the files of another
// benchmark. The work is importers/tritonbench_g.py's, which takes this process over: its exit
// status is the command's.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/app/common.h"
#include "server/commands/commands.h"

namespace assay::server {
namespace {

constexpr const char* kCommand = "import tritonbench-g";
constexpr int kMostJobs = 64;

struct ImportOptions {
  std::string folder, out;
  std::string target = "cuda:90";
  int jobs = 1;
  std::vector<std::string> only;
};

int import_tritonbench(const ImportOptions& options) {
  const Result<Paths> paths = find_paths();
  if (!paths) return print_error(kCommand, kBadConfig, paths.error().message);
  std::error_code error;
  if (!std::filesystem::is_directory(options.folder, error))
    return print_error(
        kCommand, kNoInput,
        options.folder + " is not a folder; it is data/TritonBench_G_v1 of thunlp/TritonBench");
  std::vector<std::string> words = {paths->python.string(),
                                    (paths->root / "importers/tritonbench_g.py").string(),
                                    options.folder,
                                    "--out",
                                    options.out,
                                    "--target",
                                    options.target,
                                    "--jobs",
                                    std::to_string(options.jobs),
                                    "--build",
                                    paths->binaries.parent_path().string()};
  for (const std::string& name : options.only) words.insert(words.end(), {"--only", name});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  return print_error(kCommand, kUnavailable,
                     "execute " + words.front() + ": " + std::strerror(errno));
}

}  // namespace

void add_import(CLI::App& app, int& status) {
  CLI::App* group = app.add_subcommand("import", "Make operators from another benchmark's files");
  group->require_subcommand(1);
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = group->add_subcommand(
      "tritonbench-g",
      "The golden files of TritonBench-G, each as operators of a suite for --suite");
  command->add_option("folder", options->folder, "data/TritonBench_G_v1 of thunlp/TritonBench")
      ->required();
  command->add_option("--out", options->out, "the suite's folder; made where it is missing")
      ->required();
  command->add_option("--target", options->target, "what is recorded for")->capture_default_str();
  command->add_option("--jobs", options->jobs, "files at once; each takes a core and some GiB")
      ->check(CLI::Range(1, kMostJobs))
      ->capture_default_str();
  command->add_option("--only", options->only, "name of a file; may be repeated")
      ->allow_extra_args(false);
  command->callback([options, &status] { status = import_tritonbench(*options); });
}

}  // namespace assay::server
