// A prompt: where a command is given no text and both its standard streams are terminals, it asks
// for one text after the other, and the model stays loaded.
//
// Lines can be edited and are remembered (libedit; the memory ends with the program). Ctrl-D ends
// with exit code 0. Ctrl-C ends an answer of a command that asks interrupted(), or empties the
// line. An error in a text is printed, and the next text is asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/log.h"

namespace heed {

// Whether a command answers texts, with answer_texts(): the one that was given, or those of a
// prompt. `other`: it was given something else to work on.
bool answers_texts(const std::optional<std::string>& given, bool other = false);

struct Asked {
  std::string name, what;      // the command, and what to type
  bool takes_nothing = false;  // an empty line is a text too
};

// Answers the text that was given. Without one: says what to type, prompts "NAME> " and answers
// every line until the end. Returns the exit code.
Exit answer_texts(const std::optional<std::string>& given, const Asked& asked, Log& log,
                  const std::function<void(const std::string& text)>& answer);

// The answer that is being written is to end: there was a signal. Always false without a prompt.
bool interrupted();

}  // namespace heed
