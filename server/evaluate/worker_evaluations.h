// Answers the `evaluate` messages of a worker (server/workers/worker_loop.h), which clients without
// a server send: the body is that of POST /v1/evaluate with one evaluation, and the answer is its
// result. A worker has no runs, keys, deadlines, groups or priorities, so it refuses them.
//
//   const EvaluationContext context{.catalog = catalog, .devices = {"cuda:0"}};
//   WorkerLoop loop(device, hello, place, evaluate_for(context));
//
// The function that evaluate_for() returns is thread-safe. The context must outlive it.
#pragma once

#include "server/evaluate/evaluation_request.h"
#include "server/workers/worker_loop.h"

namespace assay::server {

WorkerLoop::Evaluate evaluate_for(const EvaluationContext& context);

}  // namespace assay::server
