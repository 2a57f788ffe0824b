#include "data/examples.h"

#include <algorithm>

#include "base/noise.h"

namespace heed {

Examples::Examples(const Split& split, const RunConfig& config, int vocab, int mask_id)
    : split_(&split),
      objective_(config.objective),
      seed_(config.seed),
      vocab_(vocab),
      mask_id_(mask_id),
      tile_length_(config.objective.type == ObjectiveType::masked_lm
                       ? config.objective.source_length
                       : config.objective.target_length) {}

// Tiles are [0, offset), [offset, offset + length), ...; the last may be shorter.
std::size_t Examples::tile_offset(std::int64_t epoch) const {
  if (epoch == kEvaluation) return 0;
  const std::size_t most = std::min(tile_length_, split_->target.size());
  return most == 0 ? 0 : combine(noise_key(seed_, Purpose::offset), epoch) % most;
}

std::int64_t Examples::count(std::int64_t epoch) const {
  if (objective_.type == ObjectiveType::seq2seq)
    return static_cast<std::int64_t>(split_->sentences());
  const std::size_t offset = tile_offset(epoch);
  const std::size_t rest = split_->target.size() - offset;
  return static_cast<std::int64_t>((offset > 0) + (rest + tile_length_ - 1) / tile_length_);
}

Examples::Tile Examples::tile(std::int64_t epoch, std::int64_t number) const {
  const std::size_t offset = tile_offset(epoch), n = split_->target.size();
  if (offset > 0 && number == 0) return {0, offset};
  const std::size_t begin = offset + (number - (offset > 0)) * tile_length_;
  return {begin, std::min(n, begin + tile_length_)};
}

void Examples::make(std::int64_t epoch, std::int64_t index, Example& out) const {
  out.source.clear();
  out.target.clear();
  out.labels.clear();
  std::uint64_t number = index;
  if (epoch != kEvaluation)
    number = permuted(noise_key(seed_, Purpose::order, epoch), count(epoch), index);
  switch (objective_.type) {
    case ObjectiveType::prefix_lm:
      return prefix_lm(tile(epoch, number), out);
    case ObjectiveType::causal_lm:
      return causal_lm(tile(epoch, number), out);
    case ObjectiveType::masked_lm:
      return masked_lm(tile(epoch, number), epoch, out);
    case ObjectiveType::seq2seq:
      return seq2seq(number, out);
  }
}

// The encoder reads what comes before the tile, the decoder writes the tile from <s>.
void Examples::prefix_lm(Tile t, Example& out) const {
  const std::size_t window = std::min<std::size_t>(t.begin, objective_.source_length);
  if (window == 0) out.source.push_back(Tokenizer::kBos);
  split_->target.copy(t.begin - window, t.begin, out.source);
  out.target.push_back(Tokenizer::kBos);
  split_->target.copy(t.begin, t.end - 1, out.target);
  split_->target.copy(t.begin, t.end, out.labels);
}

// Every token of the tile from the one before it; <s> comes before the text.
void Examples::causal_lm(Tile t, Example& out) const {
  if (t.begin == 0) out.target.push_back(Tokenizer::kBos);
  split_->target.copy(t.begin == 0 ? 0 : t.begin - 1, t.end - 1, out.target);
  split_->target.copy(t.begin, t.end, out.labels);
}

// <s> and the tile, in which a fraction of the tokens is to be told: of these 80 % are shown as
// [MASK], 10 % as a random token, 10 % as they are (Devlin et al. 2019, section 3.1).
void Examples::masked_lm(Tile t, std::int64_t epoch, Example& out) const {
  out.source.push_back(Tokenizer::kBos);
  out.labels.push_back(-1);
  split_->target.copy(t.begin, t.end, out.source);
  const std::uint64_t key = noise_key(seed_, Purpose::mask, epoch);
  for (std::size_t i = t.begin; i < t.end; ++i) {
    const std::uint64_t token_key = combine(key, i);
    int& shown = out.source[1 + i - t.begin];
    if (uniform01(token_key, 0) >= objective_.mask_fraction) {
      out.labels.push_back(-1);
      continue;
    }
    out.labels.push_back(shown);
    const double fate = uniform01(token_key, 1);
    if (fate < 0.8) {
      shown = mask_id_;
    } else if (fate < 0.9) {
      const int first = mask_id_ + 1;
      shown = first + static_cast<int>(uniform01(token_key, 2) * (vocab_ - first));
    }
  }
}

// Source and </s>; <s> and target, labelled target and </s>.
void Examples::seq2seq(std::size_t i, Example& out) const {
  split_->source.copy(split_->source_begin[i], split_->source_begin[i + 1], out.source);
  out.source.push_back(Tokenizer::kEos);
  split_->target.copy(split_->target_begin[i], split_->target_begin[i + 1], out.labels);
  out.target.push_back(Tokenizer::kBos);
  out.target.insert(out.target.end(), out.labels.begin(), out.labels.end());
  out.labels.push_back(Tokenizer::kEos);
}

}  // namespace heed
