// The tokenizers of a model: one, or one for each side (tokenizer.shared: false), and the files of
// a checkpoint that hold them.
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

  // tokenizer.json or tokenizer.model; with two, the source's name has "source_" before it.
  std::vector<NamedBytes> files() const;
  // From these files of `folder`. Error (store) on any that heed would not have written.
  static Tokenizers load(std::span<const NamedBytes> files, const std::filesystem::path& folder);
};

}  // namespace heed
