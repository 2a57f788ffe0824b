// The tokenizers of a model (one, or one for each side with tokenizer.shared: false), and their
// files in a checkpoint.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

struct NamedBytes {
  std::string name;  // e.g. "tokenizer.json"
  std::string bytes;
};

struct Tokenizers {
  std::unique_ptr<Tokenizer> target, separate_source;
  const Tokenizer& source() const { return separate_source ? *separate_source : *target; }

  // tokenizer.json or tokenizer.model; with two, the source's starts with "source_".
  std::vector<NamedBytes> files() const;
  // Reads these files from `folder`. Error (store) for a file that heed did not write.
  static Tokenizers load(std::span<const NamedBytes> files, const std::filesystem::path& folder);
};

}  // namespace heed
