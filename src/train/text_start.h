// heed train TEXT: a run on a text of one's own, without a config. One is suggested for the text
// and for the minutes that it may take, and the log says why.
//
// The number of steps is planned once, from steps that are measured before the run folder is made.
// So the run's config.json is an ordinary config, and training with it again gives the same bytes.
#pragma once

#include "train/start.h"
#include "train/suggested_config.h"

namespace heed {

struct TextRequest : TrainRequest {  // `run` empty: runs/<name of the first text>
  std::vector<std::string> texts;    // files and folders; or "-" alone, standard input
  std::string like = "gpt";
  double minutes = 5;
};

// What to call a text: "mine" for "a/mine.txt", "stdin" for "-".
std::string name_of_text(const std::string& path);

RunResult train_on_text(const TextRequest& request, Log& log);

// What such a start says before it trains: what was read and chosen, and why (text_messages.cpp).

struct Plan {
  std::int64_t steps = 0;
  bool chosen = true;  // false: the user has set when training ends
  double passes = 0;   // through the text
  double seconds = 0;
};

// The first few of them: "a.txt, b.txt, c.txt and 9 more".
std::string names_of(const std::vector<std::string>& files);

void say_text(Log& log, const FoundTexts& found, const TextFacts& facts);
// Why these tokens; not said of a tokenizer that the user has chosen.
void say_tokens(Log& log, TokenizerConfig::Type type, const TextFacts& facts);
void say_model(Log& log, const OwnText& text, const PreparedRun& run);
// `init_from` as typed, or empty.
void say_plan(Log& log, const Plan& plan, const std::string& run, const std::string& init_from);

}  // namespace heed
