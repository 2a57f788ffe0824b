// The texts a command answers: TEXT, each line of --file or standard input, or lines typed at a
// prompt.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "base/input_file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/prompt.h"
#include "data/run_config.h"
#include "data/user_text.h"
#include "text/tokenizer.h"

namespace heed {

struct Lines {
  std::size_t most = 1;  // lines of a file answered at a time, as they arrive
  std::size_t limit = std::numeric_limits<std::size_t>::max();  // lines answered in all
};

// How files of texts are opened: a byte tokenizer takes their bytes as they are.
InputFile::Allow form_of_texts(const RunConfig& config);

// Says that a text, by its beginning, is in UTF-16 or has the marks of HTML, JSON and the like.
void say_form(const std::string& name, std::string_view text, bool utf16, Log& log);

// The text with [MASK] for its other ways to be written: <mask>, [mask] and ___. Error (data)
// without any, or if something stands beside one in its word: of words that keep their punctuation,
// the answer to "[MASK]" is one like "big.".
std::string with_masks(const CommandLine& line, const GivenText& given, const RunConfig& config);

// --html writes the page of one text. Error (usage) if there may be more, or if standard output is
// also for something else.
void check_page(const CommandLine& line, const std::string& html, bool prompts);

// The lines that could not be answered.
class Refusals {
 public:
  // Calls use(). An Error (data) of a line costs that line alone: it is named, and the result is
  // its text; else "". Any other goes on.
  std::string refusal_of(const GivenText& text, const std::function<void()>& use);
  // The same, and prints what stands in the line's place: nothing, or {KEY: null, "error": ...}.
  void answer(const GivenText& text, const char* key, bool json, const std::function<void()>& use);
  // Says how many were not named, if some were not. Exit::data if there are any, else Exit::ok.
  Exit end() const;

 private:
  std::size_t count_ = 0;
};

// Answers texts that were read together.
using Answer = std::function<void(std::span<const GivenText>, Refusals&)>;

// Answers what the command line names (add_texts()); if nothing, asks for texts on a terminal, else
// reads standard input. Texts and lines come without a byte order mark before them and the \n or
// \r\n that ends a line; one of --against comes after the line of --file that it is compared with.
Exit answer_texts(CommandLine& line, const PromptText& prompt, const Lines& lines,
                  UserTexts& as_read, const Answer& answer);

}  // namespace heed
