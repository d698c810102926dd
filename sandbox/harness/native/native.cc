// Defines _native, a Python module with system calls that the zygote and the candidates cannot make
// from Python. Its functions call functions of sandbox/jail/.
//
//   _native.unshare_pid()                      # in the zygote, right before os.fork()
//   layers = _native.enter_job_jail(config)    # in the child: [{"name", "active", "detail"}]
//
// A function that fails raises RuntimeError. Only a single-threaded process may use this module.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdlib>
#include <stdexcept>

#include "sandbox/jail/jail.h"
#include "sandbox/jail/layer.h"
#include "sandbox/jail/namespaces.h"

namespace py = pybind11;
using namespace assay;
using namespace assay::sandbox;

namespace {

void check(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

template <class T>
T get(const py::dict& config, const char* key, T otherwise) {
  return config.contains(key) ? config[key].cast<T>() : otherwise;
}

JobJail read_config(const py::dict& config) {
  JobJail jail;
  const auto isolation = get<std::string>(config, "isolation", "best_effort");
  if (isolation != "strict" && isolation != "best_effort")
    throw std::invalid_argument("isolation is 'strict' or 'best_effort', not '" + isolation + "'");
  jail.strict = isolation == "strict";
  jail.slot = get(config, "slot", jail.slot);
  jail.job_fd = get(config, "job_fd", jail.job_fd);
  jail.devices = get(config, "devices", jail.devices);
  jail.tmp_bytes = get(config, "tmp_bytes", jail.tmp_bytes);
  jail.tmp_inodes = get(config, "tmp_inodes", jail.tmp_inodes);
  jail.limits.processes = get(config, "processes", jail.limits.processes);
  jail.limits.open_files = get(config, "open_files", jail.limits.open_files);
  jail.limits.file_bytes = get(config, "file_bytes", jail.limits.file_bytes);
  jail.limits.data_bytes = get(config, "data_bytes", jail.limits.data_bytes);
  jail.limits.niceness = get(config, "niceness", jail.limits.niceness);
  if (jail.slot < 0 || jail.slot >= kMaxSlots)
    throw std::invalid_argument("slot is 0 to " + std::to_string(kMaxSlots - 1));
  if (jail.job_fd < 0)
    throw std::invalid_argument("job_fd is missing: the descriptor of the job socket");
  return jail;
}

py::list enter(const py::dict& config) {
  const Result<std::vector<LayerReport>> layers = enter_job_jail(read_config(config));
  if (!layers) throw std::runtime_error(layers.error().message);
  py::list out;
  for (const LayerReport& layer : *layers) {
    py::dict entry;
    entry["name"] = layer.name;
    entry["active"] = layer.active;
    entry["detail"] = layer.detail;
    out.append(entry);
  }
  return out;
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The jail, for the harness.";
  if (const char* layers = std::getenv(kLeftOutVariable)) check(leave_out(layers));
  // An error is ignored here, because enter_job_jail() reports every isolation layer that is
  // inactive.
  prepare_job_jail();
  module.def("enter_job_jail", &enter, py::arg("config"),
             "Enters the job jail for good. Returns its layers; RuntimeError when strict isolation "
             "lacks one.");
  module.def(
      "unshare_pid",
      [] {
        check(check_not_left_out("pid_namespace"));
        check(make_child_pid_namespace());
      },
      "The next child is process 1 of a new pid namespace. May be called before every fork.");
  module.def(
      "rejoin_pid", [] { check(leave_child_pid_namespace()); },
      "After the fork: children, and threads, are born into the own pid namespace again.");
  module.def(
      "die_with_parent", [] { check(die_with_parent()); }, "SIGKILL when the parent thread ends.");
  module.def(
      "close_other_descriptors",
      [](std::vector<int> keep) { check(close_other_descriptors(std::move(keep))); },
      py::arg("keep"), "Closes every descriptor above 2 that is not named.");
}
