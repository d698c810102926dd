#include "server/commands/export/export_script.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "server/app/exit_status.h"

namespace assay::server {
namespace {

tl::unexpected<Error> input_error() {
  return fail(ErrorCode::unavailable,
              std::string("write to a temporary file: ") + std::strerror(errno));
}

}  // namespace

Result<ScriptInput> ScriptInput::make() {
  std::FILE* file = std::tmpfile();  // inherited by what this process executes
  if (file == nullptr) return input_error();
  return ScriptInput(file);
}

Status ScriptInput::add(const nlohmann::json& document) {
  const std::string line =
      document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size()) return input_error();
  return {};
}

Result<std::string> ScriptInput::path() {
  if (std::fflush(file_.get()) != 0) return input_error();
  return "/proc/self/fd/" + std::to_string(::fileno(file_.get()));
}

int run_export_script(const std::string& command, const Paths& paths, const std::string& script,
                      ScriptInput input, const std::vector<std::string>& words) {
  const Result<std::string> path = input.path();
  if (!path) return print_error(command, kUnavailable, path.error().message);
  std::error_code error;
  if (!std::filesystem::exists(paths.python, error))
    return print_error(command, kUnavailable,
                       "there is no Python at " + paths.python.string() +
                           "; `assay setup` makes it, and ASSAY_PYTHON names another");
  std::vector<std::string> all = {paths.python.string(), "-B", (paths.root / script).string(),
                                  "--input", *path};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  return print_error(command, kUnavailable, "execute " + all.front() + ": " + std::strerror(errno));
}

}  // namespace assay::server
