// Interprets an error that a candidate reports. The report is untrusted: a submission can only
// accuse itself with it, and it never makes an error Assay's own.
//
//   ErrorKind kind = limit_behind(error);
//   if (is_shortage(error)) run.tell_shortage();  // the job is worth a second attempt
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sandbox/pool/messages.h"

namespace assay::sandbox {

/// Returns the limit that an exception of Python or torch reports (no memory, no space on disk, no
/// more processes). Returns the error's kind if the exception reports no limit.
ErrorKind limit_behind(const CandidateError& error);

/// Returns true if a system call or an allocation failed that a shortage of the machine can make
/// fail. Nothing shows whether the machine or the submission used up the resource.
bool is_shortage(const CandidateError& error);

/// Recognises a fault of the GPU, or a lack of its memory: by the type of torch's exception and the
/// driver's number, or, if a library raises an exception without a number, by the driver's words.
/// Only a candidate of the host tier has access to a GPU.
ErrorKind device_error_behind(ErrorKind kind, const CandidateError& error);

/// Returns `line` if `source` has a line with this number. Otherwise returns nothing. The first
/// line has the number 1. The check is needed because a candidate can send any number.
std::optional<std::int64_t> line_of_source(std::optional<std::int64_t> line,
                                           std::string_view source);

}  // namespace assay::sandbox
