#include "sandbox/record/case_io.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "sandbox/wire/memfd.h"

namespace assay::sandbox {
namespace {

CandidateCase describe(const PreparedCase& prepared) {
  CandidateCase one;
  one.id = prepared.id;
  one.arguments = prepared.arguments;
  one.structural = prepared.structural;
  one.inout = prepared.inout;
  for (const PreparedOutput& output : prepared.outputs) one.output_from.push_back(output.from);
  return one;
}

/// Appends the descriptors of a case's arguments to `fds`, and sets the arguments' indices to
/// match.
void place(CandidateCase& one, const PreparedJob& prepared, std::vector<int>& fds) {
  std::map<std::int64_t, std::int64_t> placed;
  for (Argument& argument : one.arguments) {
    if (!argument.fd) continue;
    const auto [found, fresh] = placed.emplace(*argument.fd, static_cast<std::int64_t>(fds.size()));
    if (fresh) fds.push_back(prepared.fds[static_cast<std::size_t>(*argument.fd)].get());
    argument.fd = found->second;
  }
}

}  // namespace

Result<std::vector<UniqueFd>> make_output_files(const PreparedJob& prepared) {
  std::vector<UniqueFd> files(prepared.cases.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const PreparedCase& one = prepared.cases[i];
    if (one.device) continue;
    Result<UniqueFd> file =
        create_memfd("assay-outputs", static_cast<std::uint64_t>(one.output_bytes));
    if (!file) return fail(file.error());
    files[i] = std::move(*file);
  }
  return files;
}

CandidateInputs interpret_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases,
                                 const std::vector<UniqueFd>& outputs) {
  CandidateInputs inputs;
  for (const std::size_t i : cases) {
    CandidateCase one = describe(prepared.cases[i]);
    place(one, prepared, inputs.fds);
    one.output_fd = static_cast<std::int64_t>(inputs.fds.size());
    one.output_bytes = prepared.cases[i].output_bytes;
    inputs.fds.push_back(outputs[i].get());
    inputs.cases.push_back(std::move(one));
  }
  return inputs;
}

CandidateInputs record_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases,
                              std::string_view language) {
  CandidateInputs inputs;
  for (const std::size_t i : cases) {
    CandidateCase one = describe(prepared.cases[i]);
    for (Argument& argument : one.arguments) {
      const bool structural = std::find(one.structural.begin(), one.structural.end(),
                                        argument.name) != one.structural.end();
      if (!structural) argument.fd.reset();
    }
    if (language == kCudaCpp) {
      one.axes = prepared.cases[i].axes;
      one.output_tensors = prepared.cases[i].outputs;
    }
    place(one, prepared, inputs.fds);
    inputs.cases.push_back(std::move(one));
  }
  return inputs;
}

CandidateInputs host_inputs(const PreparedJob& prepared, const std::vector<std::size_t>& cases) {
  CandidateInputs inputs;
  for (const std::size_t i : cases) {
    CandidateCase described = describe(prepared.cases[i]);
    for (Argument& argument : described.arguments) argument.fd.reset();
    described.output_tensors = prepared.cases[i].outputs;
    inputs.cases.push_back(std::move(described));
  }
  return inputs;
}

}  // namespace assay::sandbox
