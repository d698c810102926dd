// Implements check_amd_kernels(): reads the metadata of an AMD binary, which is MessagePack in ELF
// notes.
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "base/json.h"
#include "sandbox/launcher/plan/plan_check.h"

namespace assay::sandbox {
namespace {

using nlohmann::json;

constexpr std::uint64_t kNoteAlignment = 4;
// The bytes of notes that are read, as a multiple of the image's size. A binary of the compiler
// names its notes twice, by a segment and by a section.
constexpr std::uint64_t kMostNoteBytesPerImage = 2;
// The parser calls itself for each level. The metadata of a compiler has about five levels.
constexpr int kMostDepth = 64;
constexpr const char* kKindKey = ".kind";
constexpr const char* kNormalKind = "normal";

tl::unexpected<Error> refuse_amd(const std::string& reason) {
  return fail(ErrorCode::invalid_argument, "device binary: " + reason);
}

/// Finds a kernel whose kind is not `normal`. It reads the metadata event by event, because a map
/// may have a key twice. Then the driver may take the first value, and a parsed document has the
/// last.
class KindReader final : public nlohmann::json_sax<json> {
 public:
  std::optional<std::string> unusual;  // the kind of a kernel

  bool key(std::string& name) override {
    is_kind_ = name == kKindKey;
    return true;
  }
  bool string(std::string& text) override { return text == kNormalKind ? normal() : value(text); }
  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a bool"); }
  bool number_integer(std::int64_t) override { return value("a number"); }
  bool number_unsigned(std::uint64_t) override { return value("a number"); }
  bool number_float(double, const std::string&) override { return value("a number"); }
  bool binary(json::binary_t&) override { return value("bytes"); }
  bool start_object(std::size_t) override { return value("a map") && ++depth_ <= kMostDepth; }
  bool start_array(std::size_t) override { return value("a list") && ++depth_ <= kMostDepth; }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool normal() {
    is_kind_ = false;
    return true;
  }
  bool value(const std::string& unusual_kind) {
    if (!is_kind_) return true;
    unusual = unusual_kind;
    return false;
  }

  bool is_kind_ = false;
  int depth_ = 0;
};

Status check_metadata(std::string_view metadata) {
  KindReader reader;
  if (json::sax_parse(metadata.begin(), metadata.end(), &reader, json::input_format_t::msgpack,
                      /*strict=*/false))
    return {};
  if (!reader.unusual)
    return refuse_amd("the metadata is no MessagePack, or has more than 64 levels");
  return refuse_amd(
      "a kernel of the kind '" + reader.unusual->substr(0, 20) +
      "', which the driver would run by itself; only kernels of the kind 'normal' may be "
      "in a binary");
}

std::uint64_t aligned(std::uint64_t size) {
  return (size + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment;
}

/// Checks the metadata in a range of notes, which is inside the image.
Status check_notes(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t name = aligned(note.n_namesz), bytes = aligned(note.n_descsz);
    notes.remove_prefix(sizeof note);
    if (name > notes.size() || note.n_descsz > notes.size() - name)
      return refuse_amd("a note lies outside");
    if (note.n_type == kAmdMetadataNote) {
      if (Status normal = check_metadata(notes.substr(name, note.n_descsz)); !normal) return normal;
    }
    notes.remove_prefix(std::min<std::uint64_t>(notes.size(), name + bytes));
  }
  return {};
}

/// Checks a range of notes, and subtracts its size from `left`.
Status check_range(std::string_view image, std::uint64_t offset, std::uint64_t bytes,
                   std::uint64_t alignment, std::uint64_t& left) {
  if (bytes > left) return refuse_amd("more notes than the binary has bytes");
  left -= bytes;
  // With another alignment, the notes would begin elsewhere.
  if (alignment > kNoteAlignment) return refuse_amd("notes with an alignment of over 4 bytes");
  return check_notes(image.substr(offset, bytes));
}

}  // namespace

Status check_amd_kernels(std::string_view image) {
  // Several headers may name the same range, so the ranges could be much longer than the image.
  std::uint64_t left = kMostNoteBytesPerImage * image.size();
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.e_machine != kAmdMachine) return {};
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    if (Status normal =
            check_range(image, segment.p_offset, segment.p_filesz, segment.p_align, left);
        !normal)
      return normal;
  }
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOTE) continue;
    if (Status normal =
            check_range(image, section.sh_offset, section.sh_size, section.sh_addralign, left);
        !normal)
      return normal;
  }
  return {};
}

}  // namespace assay::sandbox
