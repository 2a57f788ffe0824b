// What a command answers: TEXT, each line of --file or of standard input, or what is typed at a
// prompt.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "base/log.h"
#include "cli/command.h"
#include "cli/prompt.h"
#include "data/run_config.h"
#include "text/tokenizer.h"

namespace heed {

struct GivenText {
  std::string text;                   // "" if there is a target alone
  std::optional<std::string> target;  // what belongs to it
  std::string name;                   // for messages: "the text", "line 3"
};

struct Lines {
  std::size_t most = 1;  // lines of a file that are answered at a time
  bool fill = false;     // wait until there are so many; else a line that is there is answered
  std::size_t limit = std::numeric_limits<std::size_t>::max();  // lines that are answered at all
};

// Answers what `given` names; if nothing, asks for texts on a terminal, else reads standard input.
// The lines are without \n or \r\n and without a byte order mark. Error (data) with file and line
// on invalid UTF-8, once the lines before it have been answered. The answer returns what of the
// texts was read as <unk>; this is logged.
Exit answer_texts(const TextArguments& given, const PromptText& prompt, const Lines& lines,
                  const RunConfig& config, Log& log,
                  const std::function<Unknown(std::span<const GivenText>)>& answer);

}  // namespace heed
