#include "inspect/input_tokens.h"

#include <nlohmann/json.hpp>

#include "text/tokenizers.h"

namespace heed {
namespace {

std::string text_of(TokenIds ids, const Tokenizer& tokenizer) {
  std::erase(ids, Tokenizer::kBos);
  std::erase(ids, Tokenizer::kEos);
  return tokenizer.decode(ids, true);
}

}  // namespace

InputTokens input_tokens(const Example& input, const Tokenizers& tokenizers) {
  const Tokenizer &source = tokenizers.source(), &target = *tokenizers.target;
  return {source.pieces(input.source), target.pieces(input.target), text_of(input.source, source),
          text_of(input.target, target)};
}

nlohmann::ordered_json kinds_json(const InputTokens& tokens, const AttentionMaps& maps) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const AttentionKind kind : kAttentionKinds)
    if (const AttentionMap& map = map_of(maps, kind); !map.empty())
      kinds.push_back({{"name", attention_name(kind)},
                       {"layers", map.layers},
                       {"heads", map.heads},
                       {"queries", queries_of(tokens, kind)},
                       {"keys", keys_of(tokens, kind)}});
  return kinds;
}

}  // namespace heed
