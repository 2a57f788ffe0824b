#include "data/model_text.h"

#include <algorithm>

#include "base/error.h"
#include "data/corpus.h"
#include "text/utf8.h"

namespace heed {
namespace {

// Calls use(part) for what stands before, between and after the masks.
template <class Use>
void between_masks(std::string_view text, Use&& use) {
  for (std::size_t at = 0;;) {
    const std::size_t mask = std::min(text.find(Tokenizer::kMaskText, at), text.size());
    use(text.substr(at, mask - at));
    if (mask == text.size()) return;
    at = mask + Tokenizer::kMaskText.size();
  }
}

}  // namespace

std::string model_text(std::string_view text, const RunConfig& config) {
  if (!config.data.lowercase) return std::string(text);
  if (config.objective.type != ObjectiveType::masked_lm) return to_lower(text);
  std::string lower;
  bool first = true;
  between_masks(text, [&](std::string_view part) {
    if (!first) lower += Tokenizer::kMaskText;
    lower += to_lower(part);
    first = false;
  });
  return lower;
}

std::vector<int> encode_with_masks(std::string_view text, const Tokenizer& tokenizer) {
  return tokenizer.mask_id() >= 0 ? tokenizer.encode_with_mask(text) : tokenizer.encode(text);
}

Unknown unknown_beside_masks(std::string_view text, const Tokenizer& tokenizer) {
  if (tokenizer.mask_id() < 0) return tokenizer.unknown(text);
  Unknown sum;
  between_masks(text, [&](std::string_view part) { sum += tokenizer.unknown(part); });
  return sum;
}

std::vector<int> encode_known(std::string_view text, const Tokenizer& tokenizer,
                              const RunConfig& config, const std::string& what) {
  if (tokenizer.type() != TokenizerConfig::byte) check_utf8(text, what);
  const std::string read = model_text(text, config);
  const Unknown unknown = unknown_beside_masks(read, tokenizer);
  if (unknown.count > 0)
    throw Error(Exit::data,
                what + " has " + unknown.summary() + ". The model has no id for " +
                    (unknown.count == 1 ? "it." : "them."),
                "heed tokenize shows what it knows");
  return encode_with_masks(read, tokenizer);
}

}  // namespace heed
