// From texts to the ids that the two stacks read, as in training (data/examples.h):
//
//   seq2seq    source: tokens and </s>          target: <s> and tokens
//   prefix_lm  source: tokens, or <s> alone     target: <s> and tokens
//   causal_lm                                   target: <s> and tokens
//   masked_lm  source: <s> and tokens, "[MASK]" being the mask
//
// Errors are Exit::data: invalid UTF-8, unknown characters (they are named), a text longer than the
// model was trained for. Lower-cased where the model's data was.
#pragma once

#include <string_view>
#include <vector>

#include "data/run_config.h"

namespace heed {

struct Tokenizers;

struct ModelInput {
  std::vector<int> source, target;
};

// The most ids that a side reads.
int longest_source(const RunConfig& config);
int longest_target(const RunConfig& config);

// What stands around the tokens of a text.
std::vector<int> framed_source(const RunConfig& config, std::vector<int> tokens);
std::vector<int> framed_target(std::vector<int> tokens);

// `name` ("--source") stands for the text in messages. An empty source is an Error.
std::vector<int> source_ids(const RunConfig& config, const Tokenizers& tokenizers,
                            std::string_view text, const std::string& name);
std::vector<int> target_ids(const RunConfig& config, const Tokenizers& tokenizers,
                            std::string_view text, const std::string& name);

}  // namespace heed
