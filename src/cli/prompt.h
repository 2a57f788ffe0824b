// A prompt: a command without a text, whose standard streams are terminals, asks for texts one by
// one while the model stays loaded.
//
// Lines can be edited and have a history (libedit; it ends with the program). Ctrl-D ends
// with exit code 0, Ctrl-C with 130. After an error in a text, the prompt asks for the next one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace heed {

class CommandLine;

bool can_prompt();  // standard input and output are terminals

struct PromptText {
  std::string instructions;                // what to type
  std::vector<std::string> settings = {};  // options that may change between answers
  bool allow_empty = false;                // an empty line is a text too
  // Gives a setting a value; if null, CommandLine::set() does.
  std::function<void(const std::string& name, const std::vector<std::string>& values)> set = {};
};

// Says what to type, prompts "COMMAND> " and answers every line until the end. A line ":temperature
// 0.5" changes a setting, ":help" lists these, and ":q" ends. Returns the exit code.
Exit prompt_for_texts(CommandLine& line, const PromptText& prompt, Log& log,
                      const std::function<void(const std::string& text)>& answer);

}  // namespace heed
