#include "data/user_text.h"

#include <fmt/core.h>

#include "base/error.h"
#include "data/corpus.h"
#include "data/data_files.h"

namespace heed {
namespace {

void check_length(std::size_t ids, int longest, const std::string& name) {
  if (ids > static_cast<std::size_t>(longest))
    throw Error(Exit::data, fmt::format("{} is too long: the model reads at most {} tokens there, "
                                        "and with <s> or </s> these are {}.",
                                        name, longest, ids));
}

}  // namespace

std::string normalized(std::string_view text, const RunConfig& config, const Tokenizer& tokenizer,
                       const std::string& name) {
  if (!read_options(config).any_bytes) check_utf8(text, name);
  if (!config.data.changes_text()) return std::string(text);
  std::string read;
  tokenizer.split_at_specials(text, [&](std::string_view part, int special) {
    read += as_read(part, read_options(config));
    if (special >= 0) read += tokenizer.piece(special);
  });
  return read;
}

Unknown unknown_beside_specials(std::string_view text, const Tokenizer& tokenizer) {
  Unknown sum;
  tokenizer.split_at_specials(text,
                              [&](std::string_view part, int) { sum += tokenizer.unknown(part); });
  return sum;
}

TokenIds encode_known(std::string_view text, const Tokenizer& tokenizer, const RunConfig& config,
                      const std::string& name) {
  const std::string read = normalized(text, config, tokenizer, name);
  const Unknown unknown = unknown_beside_specials(read, tokenizer);
  if (unknown.count > 0)
    throw Error(Exit::data,
                fmt::format("{} has {}. The model has no id for {}.", name, unknown.summary(),
                            unknown.count == 1 ? "it" : "them"),
                "heed tokenize shows what it knows");
  return tokenizer.encode_with_specials(read);
}

TokenIds source_tokens(const Objective& objective, const RunConfig& config,
                       const Tokenizers& tokenizers, std::string_view text,
                       const std::string& name) {
  const ObjectiveTraits& traits = objective.traits();
  if (text.empty())
    throw Error(Exit::data, name + " is empty: there is nothing to attend to.",
                traits.encoder() && traits.decoder() && !traits.prompt_is_source
                    ? "--target alone, which is read as the beginning of a text"
                    : "");
  TokenIds tokens = encode_known(text, tokenizers.source(), config, name);
  check_length(objective.framed_source(tokens).size(), objective.traits().longest_source, name);
  return tokens;
}

TokenIds target_tokens(const Objective& objective, const RunConfig& config,
                       const Tokenizers& tokenizers, std::string_view text,
                       const std::string& name) {
  TokenIds tokens = encode_known(text, *tokenizers.target, config, name);
  check_length(Objective::framed_target(tokens).size(), objective.traits().longest_target, name);
  return tokens;
}

void check_positions(const ModelConfig& model, std::size_t ids, const std::string& name,
                     const std::string& frame) {
  if (ids > static_cast<std::size_t>(most_positions(model)))
    throw Error(Exit::data,
                fmt::format("{} has {} tokens with {}; this model has positions for {}.", name, ids,
                            frame, model.max_length));
}

}  // namespace heed
