// Makes the spans of calls and of jobs. A trace says nothing about hidden cases that the answer
// does not say: a job's spans are made from its public verdict, and a grade has no stages after
// `queue`.
//
//   exporter.add(span_of(observed, facts_of(observed)));
//   for (Span& span : spans_of(ended)) exporter.add(std::move(span));
//
// Pure functions, except that they draw random ids. Thread-safe.
#pragma once

#include <vector>

#include "server/mcp/core/call_observer.h"
#include "server/observe/call_facts.h"
#include "server/observe/span.h"
#include "server/runs/job_service.h"

namespace assay::server {

/// Returns the span of a call.
Span span_of(const mcp::ObservedCall& observed, const CallFacts& facts);

/// Returns the span of a job, and after it one span for each stage. The verdict contains how long
/// each stage took, but not when it ran. So each span begins where the previous one ends, in the
/// order of the stages. The list is empty if the caller decided that nobody records the trace.
std::vector<Span> spans_of(const EndedJob& ended);

}  // namespace assay::server
