// Implements `assay setup`, which makes the Python of an installed Assay. The command becomes the
// program packaging/make_python.py.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "server/app/exit_status.h"
#include "server/app/workspace.h"
#include "server/commands/commands.h"

namespace assay::server {
namespace {

constexpr const char* kSetup = "setup";
constexpr const char* kMakePython = "packaging/make_python.py";

struct SetupOptions {
  std::string python = "python3";
  std::string torch = "any";
  bool again = false;
};

/// Returns only if the program cannot be started.
int set_up(const SetupOptions& options) {
  const Result<Paths> paths = find_paths();
  if (!paths) return print_error(kSetup, kBadConfig, paths.error().message);
  if (!paths->installed)
    return print_error(kSetup, kUsage,
                       "this Assay is in the build folder of a source tree: `./run setup` makes "
                       "its Python");
  std::vector<std::string> words = {options.python,
                                    "-I",
                                    (paths->root / kMakePython).string(),
                                    "--folder",
                                    (paths->data / "python").string(),
                                    "--torch",
                                    options.torch};
  if (options.again) words.emplace_back("--again");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(options.python.c_str(), arguments.data());
  return print_error(kSetup, kUnavailable,
                     options.python + " cannot be started: " + std::strerror(errno) +
                         "; --python names a Python from 3.10 on, with the module venv");
}

}  // namespace

void add_setup(CLI::App& app, int& status) {
  auto options = std::make_shared<SetupOptions>();
  CLI::App* command = app.add_subcommand(
      kSetup, "Install PyTorch and Triton for an installed Assay, from the index of pip");
  command->add_option("--python", options->python, "the Python from which the new one is made")
      ->capture_default_str();
  command
      ->add_option("--torch", options->torch,
                   "the build of PyTorch: any (what the index offers), cpu or cuda")
      ->check(CLI::IsMember({"any", "cpu", "cuda"}))
      ->capture_default_str();
  command->add_flag("--again", options->again, "also if PyTorch and Triton are installed already");
  command->callback([options, &status] { status = set_up(*options); });
}

}  // namespace assay::server
