#include "train/partial_weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/format.h"

namespace heed {
namespace {

// Has the tensor a row for each token? Then of this side.
const Tokenizer* vocabulary_of(const std::string& tensor, const Tokenizers& tokenizers) {
  if (tensor == "source_embed.weight") return &tokenizers.source();
  const bool table = tensor == "embed_tokens.weight" || tensor == "target_embed.weight" ||
                     tensor == "lm_head.weight";
  return table ? tokenizers.target.get() : nullptr;
}

// Copies the rows of tokens that both have; returns how many, without those of every vocabulary.
int copy_tokens(const Tokenizer& from, Mat<const float> rows, const Tokenizer& to, Mat<float> out) {
  std::map<std::string, int> known;
  for (int id = 0; id < from.size(); ++id) known.emplace(from.piece(id), id);
  int copied = 0;
  for (int id = 0; id < to.size(); ++id) {
    const auto found = known.find(to.piece(id));
    if (found == known.end()) continue;
    std::copy_n(rows.row(found->second), rows.cols, out.row(id));
    copied += id >= to.first_ordinary_id();
  }
  return copied;
}

// "decoder.layers.4." for one of its tensors, else "".
std::string layer_of(const std::string& tensor) {
  const std::size_t at = tensor.find(".layers.");
  return at == std::string::npos ? "" : tensor.substr(0, tensor.find('.', at + 8) + 1);
}

}  // namespace

PartialWeights partial_weights(const TrainedModel& from, const Transformer& to,
                               const Tokenizers& tokenizers, std::uint64_t seed) {
  PartialWeights result{ParamVec<float>(to.table.size()), "", ""};
  initialize(to.table, seed, result.values);
  std::map<std::string, Param> known;
  for (const ParamInfo& info : from.model.table.infos()) known[info.name] = info.param;
  std::vector<std::string> anew, tables;
  int whole = 0, rows = 0;
  for (const ParamInfo& info : to.table.infos()) {
    const auto found = known.find(info.name);
    const Mat<float> out = result.values[info.param];
    const Tokenizer* tokens = vocabulary_of(info.name, tokenizers);
    if (found != known.end() && tokens != nullptr && found->second.cols == out.cols) {
      const int copied = copy_tokens(*vocabulary_of(info.name, from.tokenizers),
                                     from.values[found->second], *tokens, out);
      rows += copied;
      tables.push_back(fmt::format("the vectors of {} of {} tokens in {}", copied,
                                   out.rows - tokens->first_ordinary_id(), info.name));
    } else if (found != known.end() && found->second.rows == out.rows &&
               found->second.cols == out.cols) {
      std::copy_n(from.values.data() + found->second.offset, found->second.size(), out.data);
      ++whole;
    } else {
      // A whole layer that the other model lacks is named once.
      const std::string layer = layer_of(info.name);
      const auto there = known.lower_bound(layer);
      const bool partly =
          layer.empty() || (there != known.end() && there->first.starts_with(layer));
      const std::string name = partly ? info.name : layer + "*";
      if (anew.empty() || anew.back() != name) anew.push_back(name);
    }
  }
  if (whole == 0 && rows == 0)
    throw Error(
        Exit::usage,
        fmt::format("--partial: nothing of {} fits: {}.", from.run,
                    tables.empty() ? fmt::format("model.d_model is {} there and {} here",
                                                 from.config.model.d_model, to.config.d_model)
                                   : "no tensor has the same shape, and no token is in both"),
        tables.empty() ? "--set model.d_model as it is there; or without --init-from"
                       : "without --init-from");
  tables.insert(tables.begin(), fmt::format("{} tensors", whole));
  result.taken = listed(tables);
  result.anew = joined(anew);
  return result;
}

}  // namespace heed
