// The texts a command answers: TEXT, each line of --file or standard input, or lines typed at a
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
#include "data/user_text.h"
#include "text/tokenizer.h"

namespace heed {

struct Lines {
  std::size_t most = 1;  // lines of a file answered at a time
  bool fill = false;     // wait for `most` lines; else answer lines as they arrive
  std::size_t limit = std::numeric_limits<std::size_t>::max();  // lines answered in all
};

// Answers what the command line names (add_texts()); if nothing, asks for texts on a terminal, else
// reads standard input. Lines come without \n, \r\n or a byte order mark. Error (data) with file
// and line on invalid UTF-8, once the lines before it are answered. `answer` returns what was read
// as <unk>, to be logged.
Exit answer_texts(CommandLine& line, const PromptText& prompt, const Lines& lines,
                  const RunConfig& config, Log& log,
                  const std::function<Unknown(std::span<const GivenText>)>& answer);

}  // namespace heed
