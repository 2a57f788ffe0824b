#include "text/tokenizers.h"

#include "base/error.h"

namespace heed {
namespace {

constexpr std::string_view kSource = "source_";

}  // namespace

std::vector<NamedBytes> Tokenizers::files() const {
  std::vector<NamedBytes> files{{std::string(target->file_name()), target->serialize()}};
  if (separate_source)
    files.push_back({std::string(kSource) + std::string(separate_source->file_name()),
                     separate_source->serialize()});
  return files;
}

Tokenizers Tokenizers::load(std::span<const NamedBytes> files,
                            const std::filesystem::path& folder) {
  Tokenizers t;
  for (const NamedBytes& file : files) {
    std::string_view name = file.name;
    const bool source = name.starts_with(kSource);
    if (source) name.remove_prefix(kSource.size());
    if (name != kTokenizerJson && name != kTokenizerModel)
      throw Error(Exit::store, (folder / file.name).string() + " is not a heed tokenizer.");
    (source ? t.separate_source : t.target) =
        load_tokenizer(name, file.bytes, (folder / file.name).string());
  }
  if (!t.target) throw Error(Exit::store, folder.string() + " has no tokenizer.");
  return t;
}

}  // namespace heed
