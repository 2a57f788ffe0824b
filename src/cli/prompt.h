// Texts that commands are given to read: from an option, a file, or standard input.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "train/trained_model.h"

namespace heed {

// The ids of `text` on this side of a model, lower-cased if its data was. Error (data) naming
// `what` ("the prompt") if it is no UTF-8 (but for byte) or has anything without an id: says which.
std::vector<int> encode_known(std::string text, const Tokenizer& tokenizer, const RunConfig& config,
                              const std::string& what);

// All of standard input if something is piped or redirected into it, else "".
std::string piped_input();

// A prompt from a file or a pipe ends where its last line does: one final newline is dropped.
std::string without_final_newline(std::string text);

}  // namespace heed
