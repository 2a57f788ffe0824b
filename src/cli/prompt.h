// A prompt: a command that is given nothing to work on, and whose standard streams are terminals,
// asks for one text after the other, and the model stays loaded.
//
// Lines can be edited and are remembered (libedit; the memory ends with the program). Ctrl-D ends
// with exit code 0. Ctrl-C ends an answer of a command that asks interrupted(), or empties the
// line. An error in a text is printed, and the next text is asked for.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/log.h"

namespace heed {

bool can_prompt();  // standard input and output are terminals

struct PromptText {
  std::string command, instructions;  // the instructions say what to type
  bool allow_empty = false;           // an empty line is a text too
};

// Says what to type, prompts "COMMAND> " and answers every line until the end. Returns the exit
// code.
Exit prompt_for_texts(const PromptText& prompt, Log& log,
                      const std::function<void(const std::string& text)>& answer);

// The answer that is being written is to end: there was a signal. Always false without a prompt.
bool interrupted();

}  // namespace heed
