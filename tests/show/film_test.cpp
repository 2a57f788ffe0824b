// Which steps have a frame, and which prompt. tests/cli/film_test.py checks the films of runs.
#include "show/film.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/splits.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

// The steps that have a frame after a run that validates every `eval_every` steps.
std::vector<std::int64_t> frames(std::int64_t steps, std::int64_t eval_every) {
  std::vector<std::int64_t> film;
  for (std::int64_t step = 0; step <= steps; ++step)
    if (is_frame(step, step > 0 && step % eval_every == 0, film.empty() ? -1 : film.back()))
      film.push_back(step);
  return film;
}

TEST(FilmFrames, AreSpreadToTheEndOfARun) {
  for (const std::int64_t steps : {420, 1000, 5000, 100'000})
    for (const std::int64_t eval_every : {steps / 100, steps / 12}) {
      const auto film = frames(steps, eval_every);
      for (std::size_t i = 1; i < film.size(); ++i)
        EXPECT_LE(film[i] - film[i - 1], steps / 4 + eval_every) << steps;
      EXPECT_GE(film.back(), steps - steps / 4);
    }
}

TEST(FilmFrames, AreFewInALongRun) {
  EXPECT_LT(frames(1'000'000, 10).size(), 80u);
}

// The prompt of a text of characters, of which `held_out` is held out.
std::string prompt_of(const std::string& training, const std::string& held_out) {
  const auto tokenizer = train(TokenizerConfig::char_, training + held_out);
  Dataset data;
  data.train = data.valid = Split(tokenizer->size(), tokenizer->size());
  TextToIds(*tokenizer).take(training, data.train, data.train.target);
  TextToIds(*tokenizer).take(held_out, data.valid, data.valid.target);
  const Tile tile = chosen_prompt(data, *tokenizer, *make_objective(causal_config()), 28);
  const Ids& ids = (held_out.empty() ? data.train : data.valid).target;
  return tokenizer->decode(part(ids, tile.begin, tile.end));
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Prompt, BeginsALineOrASentenceOfWhatTheTextIsLike) {
  const std::string prose =
      "the old miller walked to a river and saw that high water was near his mill, as his son had "
      "told him.\n";
  const std::string odd = repeated("~~~~~~~~~~~~~~~~~~~~\n", 9) +
                          repeated("IN NO EVENT 1234567\n", 9) +
                          repeated("                  \n", 9);
  for (const std::string before : {"\n", " No. ", " Why? "})
    EXPECT_EQ(prompt_of(repeated(prose, 50) + odd, odd + "x, y" + before + prose + prose + odd),
              "the old miller walked")
        << before;
  EXPECT_EQ(prompt_of(prose + odd, ""), "the old miller walked");
  EXPECT_EQ(prompt_of(prose, "a river\n"), "a ");  // too little follows any other place
}

}  // namespace
}  // namespace heed
