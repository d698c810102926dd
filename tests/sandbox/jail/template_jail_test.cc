// Tests the template jail. assay-jail builds it, and a shell inside the jail inspects it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.h"
#include "sandbox/jail/root_filesystem.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

const std::string kJailProgram = shell_word(ASSAY_BINARY_DIR "/bin/assay-jail");

struct Ran {
  int status = -1;
  std::string output;
};

Ran shell(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    ran.output.append(buffer, got);
  const int status = ::pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

Ran inside(const std::string& script, const std::string& options = "") {
  return shell("env SECRET_KEY=swordfish " + kJailProgram + " --python /usr/bin/python3 " +
               options + " -- /bin/sh -c " + shell_word(script));
}

/// Returns true if every isolation layer of the jail works on this machine. Tests that need all
/// layers are skipped if it returns false.
bool whole_jail() {
  static const bool whole = inside("true", "--isolation strict").status == 0;
  if (!whole)
    WARN("the template jail is not complete on this machine: " +
         inside("true", "--isolation strict").output);
  return whole;
}

}  // namespace

TEST_CASE(
    "inside the template jail there are only the system, four devices and writable temporary "
    "folders") {
  if (!whole_jail()) return;
  const Ran root = inside("ls /; ls /dev");
  INFO(root.output);
  CHECK(root.status == 0);
  for (const char* absent : {"home", "root", "var", "opt", "nvidia", "kmsg", "mem", "work"})
    CHECK(root.output.find(absent) == std::string::npos);
  CHECK(inside("echo x > /dev/null && head -c 4 /dev/urandom > /tmp/ok && echo x > /dev/shm/ok")
            .status == 0);
  CHECK(inside("touch /usr/x || touch /x || mkdir /home || echo x > /etc/passwd").status != 0);
}

TEST_CASE(
    "the jail is process 1 of its own pid namespace, has no network but lo, and a constant name") {
  if (!whole_jail()) return;
  const Ran ids =
      inside("echo $$; cat /proc/net/dev | tail -n +3 | cut -d: -f1; uname -n; ls -d /proc/[0-9]*");
  INFO(ids.output);
  CHECK(ids.output.starts_with("1\n"));
  CHECK(ids.output.find("lo\n") != std::string::npos);
  CHECK(ids.output.find("eth") == std::string::npos);
  CHECK(ids.output.find("\nassay\n") != std::string::npos);
}

TEST_CASE("nothing of the caller's environment gets in") {
  const Ran variables = inside("env", "--env ADDED=yes");
  CHECK(variables.output.find("swordfish") == std::string::npos);
  CHECK(variables.output.find("ADDED=yes") != std::string::npos);
  CHECK(variables.output.find("HOME=/tmp\n") != std::string::npos);
  CHECK(variables.output.find("CUDA_VISIBLE_DEVICES=\n") != std::string::npos);
  CHECK(variables.output.find("GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216:"
                              "glibc.malloc.mmap_threshold=33554432:"
                              "glibc.malloc.trim_threshold=67108864\n") != std::string::npos);
  CHECK(variables.output.find("ASSAY_TEMPLATE_LAYERS=[{\"name\":\"user_namespace\"") !=
        std::string::npos);
}

TEST_CASE(
    "malloc can ask whether the kernel has huge pages, and sees none of the kernel's counters") {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  if (!whole_jail() || !std::filesystem::exists(folder)) return;
  const Ran ran = inside("ls " + folder + "; cat " + folder + "/enabled");
  INFO(ran.output);
  CHECK(ran.output.find("hpage_pmd_size\n") != std::string::npos);
  CHECK(ran.output.find("madvise") != std::string::npos);
  CHECK(ran.output.find("khugepaged") == std::string::npos);
}

TEST_CASE("a bound folder is shown at its own path, read-only, without its neighbours") {
  if (!whole_jail()) return;
  char pattern[] = "/tmp/assay-jail-test-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  std::filesystem::create_directories(folder + "/shown/deep");
  std::ofstream(folder + "/shown/deep/file") << "seen";
  std::ofstream(folder + "/secret") << "hidden";
  const Ran ran =
      inside("cat " + folder + "/shown/deep/file; ls " + folder + "; touch " + folder + "/shown/x",
             "--bind " + folder + "/shown");
  INFO(ran.output);
  CHECK(ran.output.find("seen") != std::string::npos);
  CHECK(ran.output.find("secret") == std::string::npos);
  CHECK(ran.status != 0);
  CHECK(inside("true", "--bind /does/not/exist").status == 127);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a folder that is named by a link in a shown folder is shown at the link's target") {
  if (!whole_jail()) return;
  // The jail shows the folder `shown`. It contains two absolute links to folders, as /usr/local
  // contains the link /usr/local/cuda.
  char pattern[] = "/tmp/assay-jail-test-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  std::filesystem::create_directories(folder + "/shown/toolkit-13");
  std::filesystem::create_directories(folder + "/elsewhere/toolkit-12/include");
  std::ofstream(folder + "/shown/toolkit-13/file") << "thirteen";
  std::ofstream(folder + "/elsewhere/toolkit-12/include/file") << "twelve";
  std::ofstream(folder + "/elsewhere/secret") << "hidden";
  std::filesystem::create_directory_symlink(folder + "/shown/toolkit-13", folder + "/shown/inside");
  std::filesystem::create_directory_symlink(folder + "/elsewhere/toolkit-12",
                                            folder + "/shown/outside");
  const std::string shown = "--bind " + folder + "/shown --bind " + folder + "/shown";
  CHECK(inside("cat " + folder + "/shown/inside/file", shown + "/inside").output == "thirteen");
  CHECK(inside("cat " + folder + "/shown/outside/include/file", shown + "/outside").output ==
        "twelve");
  CHECK(inside("cat " + folder + "/shown/outside/include/file; ls " + folder + "/elsewhere",
               shown + "/outside/include")
            .output == "twelvetoolkit-12\n");
  std::filesystem::remove_all(folder);
}

TEST_CASE("the program exits with the status of its command, or with 2 for a wrong command line") {
  CHECK(inside("exit 7").status == 7);
  CHECK(inside("kill -9 $$; exit 3").status != 0);
  CHECK(shell(kJailProgram).status == 2);
  CHECK(shell(kJailProgram + " --isolation loose -- /bin/true")
            .output.find("strict or best_effort") != std::string::npos);
  CHECK(shell(kJailProgram + " --slots x -- /bin/true").status == 2);
  CHECK(shell(kJailProgram + " --nonsense x -- /bin/true").output.find("valid:") !=
        std::string::npos);
}

TEST_CASE(
    "a Python's files are its virtual environment and the installation of it, never the folder of "
    "a "
    "link to it") {
  char pattern[] = "/tmp/assay-python-test-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern);
  std::filesystem::create_directories(folder / "home/.pyenv/3.11/bin");
  std::filesystem::create_directories(folder / "home/.pyenv/3.11/lib/python3.11");
  std::filesystem::create_directories(folder / "home/bin");
  std::filesystem::create_directories(folder / "venv/bin");
  std::ofstream(folder / "home/.pyenv/3.11/bin/python3") << "";
  std::ofstream(folder / "venv/pyvenv.cfg")
      << "home = " << (folder / "home/.pyenv/3.11/bin").string() << "\nversion = 3.11\n";
  std::filesystem::create_symlink(folder / "home/.pyenv/3.11/bin/python3",
                                  folder / "home/bin/python3");
  std::filesystem::create_symlink(folder / "home/bin/python3", folder / "venv/bin/python");
  const Result<PythonFiles> files = find_python_files((folder / "venv/bin/python").string());
  REQUIRE(files);
  CHECK(files->directories == std::vector<std::string>{(folder / "venv").string(),
                                                       (folder / "home/.pyenv/3.11").string()});
  REQUIRE(files->links.size() == 1);
  CHECK(files->links[0].first == (folder / "home/bin/python3").string());
  CHECK(find_python_files((folder / "nothing").string()).error().code == ErrorCode::not_found);
  std::filesystem::remove_all(folder);
}
