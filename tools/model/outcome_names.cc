
#include "tools/model/outcome_names.h"

namespace assay::tools {

std::int64_t cases_not_run(const std::vector<sandbox::SkippedCases>& skipped_cases) {
  std::int64_t count = 0;
  for (const sandbox::SkippedCases& skip : skipped_cases)
    count += static_cast<std::int64_t>(skip.ids.size()) + skip.hidden;
  return count;
}

std::string pass_text(const sandbox::Verdict& verdict) {
  const std::int64_t left_out = cases_not_run(verdict.skipped_cases);
  if (left_out == 0) return "pass";
  const auto ran = static_cast<std::int64_t>(verdict.cases.size());
  return "pass on " + std::to_string(ran) + " of " + std::to_string(ran + left_out) + " cases (" +
         std::string(to_string(verdict.tier)) + ")";
}

std::optional<ErrorType> error_type(sandbox::ErrorKind kind) {
  using sandbox::ErrorKind;
  constexpr std::string_view kSyntax = "Syntax";
  constexpr std::string_view kAttribute = "Attribute & Type";
  constexpr std::string_view kName = "Name & Reference";
  constexpr std::string_view kRuntime = "Runtime & Logic";
  switch (kind) {
    case ErrorKind::syntax_error: return ErrorType{"SyntaxError", kSyntax};
    case ErrorKind::indentation_error: return ErrorType{"IndentationError", kSyntax};
    case ErrorKind::attribute_error: return ErrorType{"AttributeError", kAttribute};
    case ErrorKind::type_error: return ErrorType{"TypeError", kAttribute};
    case ErrorKind::not_implemented_error: return ErrorType{"NotImplementedError", kAttribute};
    case ErrorKind::name_error: return ErrorType{"NameError", kName};
    case ErrorKind::key_error: return ErrorType{"KeyError", kName};
    case ErrorKind::index_error: return ErrorType{"IndexError", kName};
    case ErrorKind::module_not_found: return ErrorType{"ModuleNotFoundError", kName};
    case ErrorKind::import_error: return ErrorType{"ImportError", kName};
    case ErrorKind::value_error: return ErrorType{"ValueError", kRuntime};
    case ErrorKind::zero_division: return ErrorType{"ZeroDivisionError", kRuntime};
    case ErrorKind::recursion_error: return ErrorType{"RecursionError", kRuntime};
    case ErrorKind::assertion_error: return ErrorType{"AssertionError", kRuntime};
    case ErrorKind::compilation_error: return ErrorType{"CompilationError", kRuntime};
    // TritonBench counts a missing function as a NameError, because Python raises a NameError when
    // the test calls the function.
    case ErrorKind::missing_entry: return ErrorType{"NameError", kName};
    case ErrorKind::interface_mismatch: return ErrorType{"RuntimeError", kRuntime};
    case ErrorKind::output_mismatch:
    case ErrorKind::wrong_result:
    case ErrorKind::unattributed:
    case ErrorKind::hidden_case:
    case ErrorKind::floor_violation: return ErrorType{"ResultsError", kRuntime};
    case ErrorKind::runtime_error:
    case ErrorKind::other_exception:
    case ErrorKind::timeout:
    case ErrorKind::memory_limit:
    case ErrorKind::process_limit:
    case ErrorKind::output_limit:
    case ErrorKind::disk_limit:
    case ErrorKind::gpu_memory_limit:
    case ErrorKind::crash:
    case ErrorKind::protocol_error:
    case ErrorKind::invalid_plan:
    case ErrorKind::not_recordable:
    case ErrorKind::launch_failure:
    case ErrorKind::gpu_fault:
    case ErrorKind::memory_error:
    case ErrorKind::race:
    case ErrorKind::canary_violation: return ErrorType{"RuntimeError", kRuntime};
    case ErrorKind::none:
    case ErrorKind::unsupported:
    case ErrorKind::reference_error:
    case ErrorKind::cancelled:
    case ErrorKind::aborted:
    case ErrorKind::device_unhealthy:
    case ErrorKind::internal_error: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace assay::tools
