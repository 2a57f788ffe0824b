// A model that no run has, for what reads trained models. Its weights are 0.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "store/model.h"

namespace heed {

inline Model model_in_memory(const std::string& config_text, std::unique_ptr<Tokenizer> tokenizer) {
  RunConfig config = parse_config(config_text, "test");
  config.tokenizer.type = tokenizer->type();
  Tokenizers tokenizers;
  tokenizers.target = std::move(tokenizer);
  const int vocab = tokenizers.target->size();
  Transformer model(config.model, vocab, vocab);
  ParamVec<float> values(model.table.size());
  auto objective = make_objective(config);
  return {"",
          std::move(config),
          std::move(objective),
          std::move(tokenizers),
          std::move(model),
          std::move(values),
          {},
          ""};
}

}  // namespace heed
