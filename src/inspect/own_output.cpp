#include "inspect/own_output.h"

#include "data/model_input.h"
#include "decode/sampling.h"
#include "evaluate/translation.h"

namespace heed {

std::vector<int> own_output(const TrainedModel& t, std::vector<int> prompt, int max_tokens,
                            double temperature) {
  SampleRequest request;
  request.to_end = t.config.objective.type == ObjectiveType::seq2seq;
  request.source_length = t.config.objective.source_length;
  request.target_length = t.config.objective.target_length;
  request.max_tokens = max_tokens;
  request.rules.temperature = temperature;
  request.banned = request.to_end
                       ? banned_in_targets(*t.tokenizers.target)
                       : std::vector<int>{Tokenizer::kUnk, Tokenizer::kBos, Tokenizer::kEos};
  // A source that is <s> alone stands for no prompt.
  if (prompt != framed_source(t.config, {}) || request.to_end) request.prompt = std::move(prompt);
  std::vector<int> ids;
  if (request.max_tokens <= 0) return ids;
  Pool pool(1);
  draw_samples(
      t.model, t.values, pool, request,
      [&](int, int id) {
        if (id != Tokenizer::kEos) ids.push_back(id);
        return id != Tokenizer::kEos;
      },
      [](int) {});
  return ids;
}

}  // namespace heed
