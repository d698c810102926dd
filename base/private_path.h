// Makes files and folders that only the user of this process can access. Thread-safe, except that
// create_private_file() and create_private_directory() may race with other processes that create
// the same path; then the other process chose the permissions, and narrow_permissions() mends them.
//
//   ASSAY_RETURN_IF_ERROR(create_private_directory("/home/me/.local/state/assay"));
//   const Result<std::optional<unsigned>> was = narrow_permissions("/home/me/.local/state/assay");
//   if (was && *was) log::warning("other users had access", {{"mode", octal_mode(**was)}});
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace assay {

/// Creates the folder with mode 0700 if it does not exist. Missing parents get the usual
/// permissions.
Status create_private_directory(const std::filesystem::path& path);

/// Creates an empty file with mode 0600 if it does not exist.
Status create_private_file(const std::filesystem::path& path);

/// Takes all permissions from the group and from other users. Returns the permissions that the file
/// or folder had, or nothing if it was private already. Leaves a folder alone that is meant to be
/// shared, which the sticky bit says (/tmp). Error: io, for example because the path belongs to
/// another user.
Result<std::optional<unsigned>> narrow_permissions(const std::filesystem::path& path);

/// Returns permissions in octal digits, such as "0644".
std::string octal_mode(unsigned mode);

}  // namespace assay
