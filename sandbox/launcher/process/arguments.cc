#include "sandbox/launcher/process/arguments.h"

#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "sandbox/jail/layer.h"
#include "sandbox/launcher/process/rocprof.h"

namespace assay::sandbox {
namespace {

std::optional<int> to_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// Parses the value of one argument into `arguments`. Returns nothing, or an error message if the
/// value is invalid.
std::optional<std::string> parse_value(const std::string& name, std::string_view value,
                                       LauncherArguments& arguments) {
  if (name == "--driver") {
    arguments.driver = value;
    if (value != "cuda" && value != "hip" && value != "fake" && value != kSickDriver &&
        value != kFullDriver && value != kEmulatedDriver)
      return "driver '" + std::string(value) +
             "' is unknown; valid: cuda, hip, emulated, fake, fake-sick, fake-full";
    return std::nullopt;
  }
  if (name == "--counters" || name == "--sanitizer" || name == "--rocprof") {
    // Symbolic links are resolved here, before the process enters the jail, because the links may
    // be missing in the jail.
    const std::unique_ptr<char, decltype(&::free)> real(
        ::realpath(std::string(value).c_str(), nullptr), &::free);
    if (!real || !value.starts_with('/'))
      return name + " '" + std::string(value) + "' is not the absolute path of a program";
    (name == "--counters"  ? arguments.ncu
     : name == "--rocprof" ? arguments.rocprof
                           : arguments.sanitizer) = real.get();
    return std::nullopt;
  }
  if (name == "--tool") {
    arguments.tool = sanitizer_tool_from(value);
    if (!arguments.tool)
      return "tool '" + std::string(value) +
             "' is unknown; valid: memcheck, racecheck, initcheck, synccheck";
    return std::nullopt;
  }
  if (name == "--isolation") {
    arguments.strict = value == "strict";
    if (value != "strict" && value != "best_effort")
      return "isolation '" + std::string(value) + "' is unknown; valid: strict, best_effort";
    return std::nullopt;
  }
  if (name == "--without") {
    if (Status left_out = leave_out(std::string(value)); !left_out) return left_out.error().message;
    return std::nullopt;
  }
  if (name == "--device" && value.starts_with("hip:")) {
    arguments.driver = "hip";
    value.remove_prefix(4);
  }
  if (name == "--device" && value.starts_with("cuda:")) value.remove_prefix(5);
  const std::optional<int> number = to_number(value);
  if (!number) return name + " '" + std::string(value) + "' is no number from 0 up";
  if (name == "--pass" && static_cast<std::size_t>(*number) >= kRocprofPasses.size())
    return "--pass " + std::to_string(*number) + " does not exist; valid: 0 to " +
           std::to_string(kRocprofPasses.size() - 1);
  (name == "--device" ? arguments.device
   : name == "--pass" ? arguments.pass
                      : arguments.socket) = *number;
  return std::nullopt;
}

bool takes_a_value(const std::string& name) {
  for (const char* known : {"--socket-fd", "--device", "--driver", "--isolation", "--counters",
                            "--rocprof", "--pass", "--sanitizer", "--tool"}) {
    if (name == known) return true;
  }
  return name == "--without" && mutations_possible();
}

}  // namespace

Result<LauncherArguments> parse_launcher_arguments(const std::vector<std::string>& words) {
  const auto wrong = [](const std::string& problem) {
    return fail(ErrorCode::invalid_argument, problem);
  };
  LauncherArguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& name = words[i];
    if (name == "--probe") {
      arguments.probe = true;
    } else if (name == "--confined") {
      arguments.confined = true;
    } else if (!takes_a_value(name)) {
      return wrong("argument '" + name + "' is unknown");
    } else if (++i == words.size()) {
      return wrong(name + " needs a value");
    } else if (const auto problem = parse_value(name, words[i], arguments)) {
      return wrong(*problem);
    }
  }
  if (!arguments.probe && (arguments.socket < 0 || arguments.device < 0))
    return wrong("--socket-fd and --device are needed");
  if (!arguments.sanitizer.empty() && (!arguments.tool || !arguments.ncu.empty()))
    return wrong("--sanitizer needs --tool, and excludes --counters");
  if (!arguments.rocprof.empty() && (!arguments.ncu.empty() || !arguments.sanitizer.empty()))
    return wrong("--rocprof excludes --counters and --sanitizer");
  return arguments;
}

}  // namespace assay::sandbox
