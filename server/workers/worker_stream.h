// WorkerStream starts the command of a worker and exchanges frames with it over the command's stdin
// and stdout. The command may start the worker on another machine: `ssh host assay worker`.
//
//   auto stream = WorkerStream::start(spawner, "assay worker", "/tmp/w.log");
//   if (!stream) return fail(stream.error());
//   Result<WorkerHello> hello = (*stream)->greet(sandbox::Deadline::after_ms(60'000), mine);
//
// One thread may receive while other threads send. Other threads may call hang_up() at any time.
// The destructor ends the command and removes its log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/pool/process.h"
#include "sandbox/wire/deadline.h"
#include "sandbox/wire/frame.h"
#include "server/workers/worker_messages.h"

namespace assay::server {

class WorkerStream {
 public:
  /// Starts `command` with /bin/sh. Its stderr goes to the file `log`. The command does not get the
  /// server's variables with keys and tokens (sandbox::trusted_environment()). Errors: io.
  static Result<std::unique_ptr<WorkerStream>> start(sandbox::Spawner& spawner,
                                                     const std::string& command,
                                                     const std::string& log);
  ~WorkerStream();
  WorkerStream(const WorkerStream&) = delete;
  WorkerStream& operator=(const WorkerStream&) = delete;

  /// Waits for the worker's hello. Errors: unavailable if the command ended or printed something
  /// else, or if the worker's revision is not `mine`; resource_exhausted; cancelled. A message says
  /// what to change.
  Result<WorkerHello> greet(const sandbox::Deadline& deadline, const WorkerRevision& mine);
  /// Waits for the next frame. Errors: unavailable if the stream ended, or if nothing arrived for
  /// `silence_ms`; corrupt; io.
  Result<sandbox::Frame> receive(std::int64_t silence_ms);
  /// Waits for its turn, and sends the frame.
  Status send(const Message& message, const sandbox::Deadline& deadline);
  /// Ends the worker's input, so that the worker ends. receive() still returns what it wrote.
  void end_input();
  /// Ends the stream in both directions at once, so that receive() returns.
  void hang_up();
  /// Waits until the command has ended. After `grace_ms`, sends SIGTERM, so that an engine can give
  /// its machine back, and some seconds later SIGKILL. Returns how the command ended, for a
  /// message: "exit status 1". Must be called by the thread that receives.
  std::string finish(std::int64_t grace_ms);
  /// Returns the end of what the command wrote to stderr: what an engine such as Slurm says.
  std::string words() const;

 private:
  WorkerStream(sandbox::Process process, UniqueFd socket, std::string command, std::string log)
      : process_(std::move(process)),
        socket_(std::move(socket)),
        command_(std::move(command)),
        log_(std::move(log)),
        receiver_(socket_.get()) {}

  /// Returns an error that says how the command ended before its hello.
  Error no_hello();
  /// Returns what the command printed, if this does not begin like a frame.
  std::string banner() const;

  sandbox::Process process_;
  const UniqueFd socket_;
  const std::string command_, log_;
  sandbox::FrameReceiver receiver_;
  sandbox::FifoSemaphore sending_{1, "the worker reads nothing"};
};

}  // namespace assay::server
