#include "sandbox/jail/root_filesystem.h"

#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include "sandbox/jail/layer.h"
#include "sandbox/jail/mounts.h"

namespace assay::sandbox {
namespace {

namespace fs = std::filesystem;

// The limits of the root's tmpfs. They are small, because this tmpfs contains only folders, links
// and mount points.
constexpr std::int64_t kRootBytes = 16LL << 20;
constexpr std::int64_t kRootInodes = 16'384;
// The limits of the zygote's /tmp. Each job gets its own /tmp.
constexpr std::int64_t kZygoteTmpBytes = 64LL << 20;
constexpr std::int64_t kZygoteTmpInodes = 16'384;
constexpr int kMaxLinks = 40;      // maximum number of links in the path of a Python interpreter
const std::string kBase = "/tmp";  // a tmpfs covers this folder while the new root is built
const std::string kOld = "/old", kNew = "/new";

// Files that are visible if the host has them: the linker's configuration, the alternatives of
// commands such as `cc`, the number of processors, and what malloc asks about huge pages.
const std::vector<std::string> kSystemFiles = {
    "/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"};
// Folders of the system that are visible. If a folder is a symbolic link (usually into /usr), the
// same link is created.
const std::vector<std::string> kSystemFolders = {"/usr",   "/bin",   "/sbin",  "/lib",
                                                 "/lib32", "/lib64", "/libx32"};
const std::vector<std::string> kDevices = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"};

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Resolves every symbolic link in the path. The reason is that the path is later read below kOld,
/// where an absolute link would lead to the wrong file.
Result<std::string> resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), &::free);
  if (real == nullptr) return fail_errno("realpath " + path);
  return std::string(real.get());
}

Status make_link(const std::string& path, const std::string& target) {
  const std::string at = kNew + path;
  if (Status made = make_directories(at.substr(0, at.rfind('/'))); !made) return made;
  if (::symlink(target.c_str(), at.c_str()) != 0 && errno != EEXIST)
    return fail_errno("symlink " + at);
  return {};
}

struct Bind {
  std::string source, target;
  bool devices = false;
};

/// Collects the mounts and links of the new root. All paths are resolved while the host's root is
/// still in place.
struct Contents {
  std::vector<Bind> binds;
  std::vector<std::pair<std::string, std::string>> links;
};

Result<Contents> resolve_contents(const RootFilesystem& root) {
  Contents contents;
  contents.links = root.links;
  std::vector<std::string> wanted = root.binds;
  for (const std::string& folder : kSystemFolders) {
    char target[4096];
    const ssize_t size = ::readlink(folder.c_str(), target, sizeof target);
    if (size > 0) {
      contents.links.emplace_back(folder, std::string(target, static_cast<std::size_t>(size)));
    } else if (exists(folder)) {
      wanted.push_back(folder);
    }
  }
  std::copy_if(kSystemFiles.begin(), kSystemFiles.end(), std::back_inserter(wanted), exists);
  for (const std::string& path : wanted) {
    Result<std::string> real = resolve(path);
    if (!real) return fail(real.error());
    contents.binds.push_back({*real, path});
  }
  for (const std::vector<std::string>* devices : {&kDevices, &root.devices}) {
    for (const std::string& path : *devices) contents.binds.push_back({path, path, true});
  }
  // A parent folder is mounted before the folders inside it, because a later mount of the parent
  // folder would hide the mounts inside it.
  std::multimap<std::string, Bind> ordered;
  for (Bind& bind : contents.binds) ordered.emplace(bind.target, std::move(bind));
  contents.binds.clear();
  for (auto& [target, bind] : ordered) contents.binds.push_back(std::move(bind));
  return contents;
}

Status pivot(const std::string& new_root, const std::string& old_root) {
  if (::syscall(SYS_pivot_root, new_root.c_str(), old_root.c_str()) != 0)
    return fail_errno("pivot_root " + new_root);
  return {};
}

/// Makes a tmpfs the root, and moves the host's root to the folder kOld in it. The tmpfs is
/// unmounted later.
Status enter_base() {
  if (Status base = mount_tmpfs(kBase, kRootBytes, kRootInodes, "0755"); !base) return base;
  for (const std::string& folder : {kOld, kNew}) {
    if (Status made = make_directories(kBase + folder); !made) return made;
  }
  if (Status moved = pivot(kBase, kBase + kOld); !moved) return moved;
  if (::chdir("/") != 0) return fail_errno("chdir /");
  return mount_tmpfs(kNew, kRootBytes, kRootInodes, "0755");
}

/// Returns true if a part of the path is a symbolic link that is already visible in the new root.
/// An example is the link /usr/local/cuda in /usr.
bool leads_through_link(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    struct stat facts {};
    if (::lstat((kNew + path.substr(0, slash)).c_str(), &facts) != 0) return false;
    if (S_ISLNK(facts.st_mode)) return true;
    if (slash == std::string::npos) return false;
  }
}

/// Makes the file visible at `place`. Does nothing if `place` already exists, because then `place`
/// is in a visible folder, in which no mount point can be created.
Status show_at(const std::string& place, const Bind& bind) {
  return exists(kNew + place) ? Status()
                              : bind_read_only(kOld + bind.source, kNew + place, bind.devices);
}

Status show(const Contents& contents) {
  // A symbolic link cannot be a mount point. So the file is mounted at the link's target. This is
  // done after all other mounts, because the target may be in another folder of the list.
  std::vector<const Bind*> linked;
  for (const Bind& bind : contents.binds) {
    if (leads_through_link(bind.target)) {
      linked.push_back(&bind);
    } else if (Status shown = show_at(bind.target, bind); !shown) {
      return shown;
    }
  }
  for (const Bind* bind : linked) {
    if (Status shown = show_at(bind->source, *bind); !shown) return shown;
  }
  for (const auto& [path, target] : contents.links) {
    if (exists(kNew + path)) continue;
    if (Status made = make_link(path, target); !made) return made;
  }
  return {};
}

/// Mounts the writable folders. This precedes all other mounts, because Python's installation may
/// be below /tmp.
Status mount_writable() {
  for (const char* folder : {"/tmp", "/dev/shm"}) {
    if (Status made = make_directories(kNew + folder); !made) return made;
    if (Status mounted = mount_tmpfs(kNew + folder, kZygoteTmpBytes, kZygoteTmpInodes, "1777");
        !mounted)
      return mounted;
  }
  return {};
}

/// Mounts a new /proc. If that is not possible, mounts the host's /proc and returns the reason.
/// Otherwise returns an empty string.
Result<std::string> show_proc(bool host_proc) {
  if (Status made = make_directories(kNew + "/proc"); !made) return fail(made.error());
  // /proc is not mounted read-only, because drivers write the names of their threads to it.
  if (host_proc && ::mount((kOld + "/proc").c_str(), (kNew + "/proc").c_str(), nullptr,
                           MS_BIND | MS_REC, nullptr) != 0)
    return fail_errno("bind /proc");
  if (host_proc) return std::string();
  const Status wanted = check_not_left_out("proc");
  Status own = wanted ? mount_proc(kNew + "/proc") : wanted;
  if (own) own = empty_machine_files(kNew + "/proc");
  if (own) return std::string();
  // A container that hides parts of /proc does not allow a new /proc. But Python needs a /proc.
  if (Status old = bind_read_only(kOld + "/proc", kNew + "/proc", false); !old)
    return fail(old.error());
  return "/proc is the host's, read-only, because of " + own.error().message;
}

/// Returns true if a folder is a virtual environment, which contains pyvenv.cfg, or a Python
/// installation, whose library folder contains python3*. Returns false for / and /usr. A folder of
/// another kind, such as a ~/bin full of links, must not become visible.
bool is_prefix(const fs::path& folder) {
  std::error_code error;
  if (folder == "/usr" || folder == "/" || folder.empty()) return false;
  if (fs::exists(folder / "pyvenv.cfg", error)) return true;
  for (const char* library : {"lib", "lib64"}) {
    for (fs::directory_iterator entry(folder / library, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().filename().string().starts_with("python3")) return true;
    }
  }
  return false;
}

void add_prefix(PythonFiles& files, const fs::path& folder) {
  if (is_prefix(folder) && std::find(files.directories.begin(), files.directories.end(),
                                     folder.string()) == files.directories.end()) {
    files.directories.push_back(folder.string());
  }
}

/// Returns the value of `home` in the pyvenv.cfg of a virtual environment, such as /opt/python/bin.
fs::path home_of(const fs::path& environment) {
  std::ifstream config(environment / "pyvenv.cfg");
  for (std::string line; std::getline(config, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string key = line.substr(0, equals), value = line.substr(equals + 1);
    std::erase(key, ' ');
    value.erase(0, value.find_first_not_of(' '));
    value.erase(value.find_last_not_of(" \r") + 1);
    if (key == "home") return value;
  }
  return {};
}

}  // namespace

Result<std::string> enter_root_filesystem(const RootFilesystem& root) {
  Result<Contents> contents = resolve_contents(root);
  if (!contents) return fail(contents.error());
  if (Status base = enter_base(); !base) return fail(base.error());
  if (Status writable = mount_writable(); !writable) return fail(writable.error());
  if (Status shown = show(*contents); !shown) return fail(shown.error());
  Result<std::string> lacks = show_proc(root.host_proc);
  if (!lacks) return lacks;
  if (::chdir(kNew.c_str()) != 0) return fail_errno("chdir " + kNew);
  if (Status moved = pivot(".", "."); !moved) return fail(moved.error());
  if (::umount2(".", MNT_DETACH) != 0) return fail_errno("umount the old root");
  if (::chdir("/") != 0) return fail_errno("chdir /");
  if (::mount("none", "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV,
              nullptr) != 0)
    return fail_errno("remount / read-only");
  return lacks;
}

Result<PythonFiles> find_python_files(const std::string& python) {
  std::error_code error;
  fs::path path = fs::absolute(python, error).lexically_normal();
  if (error || !fs::exists(path, error))
    return fail(ErrorCode::not_found, "there is no Python interpreter at " + python);
  PythonFiles files;
  for (int hop = 0; hop < kMaxLinks; ++hop) {
    const fs::path prefix = path.parent_path().parent_path();
    add_prefix(files, prefix);
    add_prefix(files, home_of(prefix).parent_path());
    if (!fs::is_symlink(path, error)) break;
    const fs::path target = fs::read_symlink(path, error);
    if (!is_prefix(prefix)) files.links.emplace_back(path.string(), target.string());
    path = (target.is_absolute() ? target : path.parent_path() / target).lexically_normal();
  }
  // Some folders of the interpreter's path may be symbolic links, so the folder of the resolved
  // path is added too.
  const fs::path real = fs::canonical(path, error);
  if (!error) add_prefix(files, real.parent_path().parent_path());
  return files;
}

}  // namespace assay::sandbox
