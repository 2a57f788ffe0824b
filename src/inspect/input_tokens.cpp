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

const std::vector<std::string>& query_tokens(const InputTokens& tokens, AttentionKind kind) {
  return kind == AttentionKind::encoder_self ? tokens.source : tokens.target;
}

const std::vector<std::string>& key_tokens(const InputTokens& tokens, AttentionKind kind) {
  return kind == AttentionKind::decoder_self ? tokens.target : tokens.source;
}

nlohmann::ordered_json kinds_json(const InputTokens& tokens, const AttentionMaps& maps) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const AttentionKind kind : kAttentionKinds)
    if (const AttentionMap& map = map_of(maps, kind); !map.empty())
      kinds.push_back({{"name", attention_name(kind)},
                       {"layers", map.layers},
                       {"heads", map.heads},
                       {"queries", query_tokens(tokens, kind)},
                       {"keys", key_tokens(tokens, kind)}});
  return kinds;
}

}  // namespace heed
