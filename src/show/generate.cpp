#include "show/generate.h"

#include "decode/sampling.h"

namespace heed {

TokenIds generate(const ModelView& m, TokenIds prompt, int max_tokens, double temperature) {
  SampleRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.rules.temperature = temperature;
  request.banned = m.objective.never_written(*m.tokenizers.target);
  TokenIds ids;
  if (max_tokens <= 0) return ids;
  Pool pool(1);
  draw_samples(
      m.model, m.values, m.objective, pool, request,
      [&](int, const TokenOdds& token) {
        if (token.id != Tokenizer::kEos) ids.push_back(token.id);
        return token.id != Tokenizer::kEos;
      },
      [](int) {});
  return ids;
}

}  // namespace heed
