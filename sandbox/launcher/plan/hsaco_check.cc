// Implements check_amd_kernels(): finds the metadata of an AMD binary, which are in ELF notes.
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "sandbox/launcher/plan/plan_check.h"

namespace assay::sandbox {
namespace {

constexpr std::uint64_t kNoteAlignment = 4;
// The bytes of notes that are read, as a multiple of the image's size. A binary of the compiler
// names its notes twice, by a segment and by a section.
constexpr std::uint64_t kMostNoteBytesPerImage = 2;
// The name of notes that the driver does not read, such as the one with the number of the build.
constexpr std::array<char, 4> kUnreadNotes = {'G', 'N', 'U', '\0'};

tl::unexpected<Error> refuse_amd(const std::string& reason) {
  return fail(ErrorCode::invalid_argument, "device binary: " + reason);
}

std::uint64_t aligned(std::uint64_t size) {
  return (size + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment;
}

/// Checks the metadata in a range of notes, which is inside the image, and adds the kernels that
/// are not in `kernels` yet.
Status check_notes(std::string_view notes, AmdKernels& kernels) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t name = aligned(note.n_namesz), bytes = aligned(note.n_descsz);
    notes.remove_prefix(sizeof note);
    if (name > notes.size() || note.n_descsz > notes.size() - name)
      return refuse_amd("a note lies outside");
    if (note.n_type == kAmdMetadataNote) {
      if (Status usual = check_amd_metadata(notes.substr(name, note.n_descsz), kernels); !usual)
        return usual;
    } else if (notes.substr(0, note.n_namesz) !=
               std::string_view(kUnreadNotes.data(), kUnreadNotes.size())) {
      // Old binaries have their metadata in another note and another format.
      return refuse_amd("a note of type " + std::to_string(note.n_type) +
                        "; only notes of type 32 (metadata) and notes of GNU may be in a binary");
    }
    notes.remove_prefix(std::min<std::uint64_t>(notes.size(), name + bytes));
  }
  return {};
}

/// Checks a range of notes, and subtracts its size from `left`.
Status check_range(std::string_view image, std::uint64_t offset, std::uint64_t bytes,
                   std::uint64_t alignment, std::uint64_t& left, AmdKernels& kernels) {
  if (bytes > left) return refuse_amd("more notes than the binary has bytes");
  left -= bytes;
  // With another alignment, the notes would begin elsewhere.
  if (alignment > kNoteAlignment) return refuse_amd("notes with an alignment of over 4 bytes");
  return check_notes(image.substr(offset, bytes), kernels);
}

}  // namespace

Status check_amd_kernels(std::string_view image) {
  // Several headers may name the same range, so the ranges could be much longer than the image.
  std::uint64_t left = kMostNoteBytesPerImage * image.size();
  AmdKernels kernels;
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.e_machine != kAmdMachine) return {};
  // Then a section has the number of segments, and a reader may or may not look there.
  if (header.e_phnum == PN_XNUM) return refuse_amd("65,535 segments or more");
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    if (Status normal =
            check_range(image, segment.p_offset, segment.p_filesz, segment.p_align, left, kernels);
        !normal)
      return normal;
  }
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOTE) continue;
    if (Status normal = check_range(image, section.sh_offset, section.sh_size, section.sh_addralign,
                                    left, kernels);
        !normal)
      return normal;
  }
  return check_amd_descriptors(image, kernels);
}

}  // namespace assay::sandbox
