// assay-jail builds the template jail and runs the zygote (COMMAND) in it. Only the supervisor
// starts assay-jail.
//
//   assay-jail --isolation best_effort --slots 64 --keep-fd 5 --python /venv/bin/python
//              --bind /assay/harness --device /dev/nvidia0 --env A=b -- COMMAND...
//
// The exit status is the exit status of the command. It is 128 plus the signal's number if a signal
// ended the command. It is 126 if assay-jail failed before it waited for the command. It is 127 if
// the jail's first process could not finish the jail or execute the command. It is 2 if the command
// line is wrong. Messages are written to standard error.

#include <cstdlib>
#include <string>
#include <vector>

#include "base/stderr_line.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/layer.h"

namespace {

using namespace assay;
using namespace assay::sandbox;

constexpr int kUsage = 2;
constexpr int kNoJail = 126;

Result<int> number(const std::string& option, const std::string& text, int highest) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0 || value > highest) {
    return fail(ErrorCode::invalid_argument, option + " wants a number from 0 to " +
                                                 std::to_string(highest) + ", not '" + text + "'");
  }
  return static_cast<int>(value);
}

Status apply(TemplateJail& config, const std::string& option, const std::string& value) {
  if (option == "--isolation") {
    if (value != "strict" && value != "best_effort")
      return fail(ErrorCode::invalid_argument,
                  "--isolation is strict or best_effort, not '" + value + "'");
    config.strict = value == "strict";
  } else if (option == "--slots" || option == "--keep-fd") {
    constexpr int kHighestFd = 1 << 20;
    const Result<int> parsed = number(option, value, option == "--slots" ? kMaxSlots : kHighestFd);
    if (!parsed) return fail(parsed.error());
    (option == "--slots" ? config.slots : config.keep_fd) = *parsed;
  } else if (option == "--python") {
    config.python = value;
  } else if (option == "--bind") {
    config.binds.push_back(value);
  } else if (option == "--device") {
    config.devices.push_back(value);
  } else if (option == "--env") {
    const std::size_t equals = value.find('=');
    if (equals == std::string::npos)
      return fail(ErrorCode::invalid_argument, "--env wants NAME=value, not '" + value + "'");
    config.environment.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  } else if (option == "--without" && mutations_possible()) {
    config.environment.emplace_back(kLeftOutVariable, value);
    return leave_out(value);
  } else {
    return fail(ErrorCode::invalid_argument,
                "unknown option " + option +
                    "; valid: --isolation --slots --keep-fd --python --bind --device --env --");
  }
  return {};
}

Result<TemplateJail> parse(const std::vector<std::string>& arguments) {
  TemplateJail config;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at] != "--"; at += 2) {
    if (at + 1 == arguments.size())
      return fail(ErrorCode::invalid_argument, arguments[at] + " wants a value");
    if (Status applied = apply(config, arguments[at], arguments[at + 1]); !applied)
      return fail(applied.error());
  }
  if (at + 1 >= arguments.size()) return fail(ErrorCode::invalid_argument, "no command after --");
  config.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
  if (config.python.empty()) config.python = config.command.front();
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  const Result<TemplateJail> config = parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!config) {
    stderr_line("assay-jail: " + config.error().message);
    return kUsage;
  }
  const Result<int> status = run_in_template_jail(*config);
  if (!status) {
    stderr_line("assay-jail: " + status.error().message);
    return kNoJail;
  }
  return *status;
}
