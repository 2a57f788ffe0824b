#include "data/model_input.h"

#include "base/error.h"
#include "data/dataset.h"
#include "data/model_text.h"

namespace heed {
namespace {

void check_length(const std::vector<int>& ids, int longest, const std::string& name) {
  if (static_cast<int>(ids.size()) > longest)
    throw Error(Exit::data, name + " is too long: the model reads at most " +
                                std::to_string(longest) + " tokens there, and with <s> or </s> " +
                                "these are " + std::to_string(ids.size()) + ".");
}

}  // namespace

int longest_source(const RunConfig& c) {
  switch (c.objective.type) {
    case ObjectiveType::prefix_lm:
      return c.objective.source_length;
    case ObjectiveType::masked_lm:
      return c.objective.source_length + 1;
    case ObjectiveType::causal_lm:
      return 0;
    case ObjectiveType::seq2seq:
      return c.model.max_length;
  }
  return 0;
}

int longest_target(const RunConfig& c) {
  switch (c.objective.type) {
    case ObjectiveType::prefix_lm:
    case ObjectiveType::causal_lm:
      return c.objective.target_length;
    case ObjectiveType::masked_lm:
      return 0;
    case ObjectiveType::seq2seq:
      return c.model.max_length;
  }
  return 0;
}

std::vector<int> framed_source(const RunConfig& c, std::vector<int> tokens) {
  switch (c.objective.type) {
    case ObjectiveType::prefix_lm:
      if (tokens.empty()) tokens.push_back(Tokenizer::kBos);
      break;
    case ObjectiveType::masked_lm:
      tokens.insert(tokens.begin(), Tokenizer::kBos);
      break;
    case ObjectiveType::causal_lm:
      tokens.clear();
      break;
    case ObjectiveType::seq2seq:
      tokens.push_back(Tokenizer::kEos);
  }
  return tokens;
}

std::vector<int> framed_target(std::vector<int> tokens) {
  tokens.insert(tokens.begin(), Tokenizer::kBos);
  return tokens;
}

std::vector<int> source_ids(const RunConfig& config, const Tokenizers& tokenizers,
                            std::string_view text, const std::string& name) {
  if (text.empty())
    throw Error(Exit::data, name + " is empty: there is nothing to attend to.",
                config.objective.type == ObjectiveType::prefix_lm
                    ? "--target alone, which is read as the beginning of a text"
                    : "");
  auto ids = framed_source(config, encode_known(text, tokenizers.source(), config, name));
  check_length(ids, longest_source(config), name);
  return ids;
}

std::vector<int> target_ids(const RunConfig& config, const Tokenizers& tokenizers,
                            std::string_view text, const std::string& name) {
  auto ids = framed_target(encode_known(text, *tokenizers.target, config, name));
  check_length(ids, longest_target(config), name);
  return ids;
}

}  // namespace heed
