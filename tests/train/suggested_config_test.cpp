#include "train/suggested_config.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temporary_folder.h"
#include "data/run_config.h"
#include "data/splits.h"

namespace heed {
namespace {

OwnText text_of(std::uint64_t bytes, int distinct, const std::string& like = "gpt") {
  return {.files = {"mine.txt"},
          .like = like,
          .name = "mine.txt",
          .facts = {.bytes = bytes, .characters = bytes, .distinct = distinct, .common = distinct}};
}

// As heed init writes it and heed train reads it: that of heed train TEXT.
RunConfig config_for(const OwnText& text) {
  const Suggestion suggestion = suggest(text);
  const RunConfig trained = resolved(given_keys(suggestion.config));
  const RunConfig written = parse_config(suggested_config(text, suggestion), "suggested", {});
  EXPECT_EQ(dump_config(written), dump_config(trained));
  return written;
}

TEST(SuggestedConfig, IsValidForEveryFamilyAndSize) {
  for (const std::string& like : families())
    for (const std::uint64_t bytes : {50, 1'000, 40'000, 1'000'000, 100'000'000})
      for (const double minutes : {0.01, 5.0, 700.0}) {
        OwnText text = text_of(bytes, bytes < 100 ? 20 : 80, like);
        text.minutes = minutes;
        const RunConfig c = config_for(text);
        EXPECT_EQ(like == "pairs" ? std::vector{c.data.pairs} : c.data.train.paths, text.files);
        EXPECT_GE(c.train.max_steps, 20) << like << " " << bytes;
        EXPECT_LE(c.optimizer.warmup_steps * 10, c.train.max_steps);
        EXPECT_EQ(c.train.max_steps % c.train.eval_every.count, 0);
      }
}

TEST(SuggestedConfig, TakesCharactersForLittleTextPiecesForMuchAndBytesForAnythingElse) {
  EXPECT_EQ(config_for(text_of(20'000, 80)).tokenizer.type, TokenizerConfig::char_);
  EXPECT_EQ(config_for(text_of(1'000'000, 80)).tokenizer.type, TokenizerConfig::bpe);
  OwnText bytes = text_of(1'000'000, 0);
  bytes.facts.bad_files = {"mine.txt"};
  bytes.facts.first_bad = "mine.txt:3";
  EXPECT_EQ(config_for(bytes).tokenizer.type, TokenizerConfig::byte);
}

TEST(SuggestedConfig, HasRoomForEveryCharacterOfALargeScript) {
  EXPECT_GE(config_for(text_of(100'000, 3500)).tokenizer.vocab_size, 3500 + 256 + 40);
}

TEST(SuggestedConfig, GrowsWithTheTextAndWithTheMinutes) {
  const int small = config_for(text_of(2'000, 60)).model.d_model;
  const int large = config_for(text_of(5'000'000, 90)).model.d_model;
  OwnText patient = text_of(5'000'000, 90);
  patient.minutes = 60;
  EXPECT_LT(small, large);
  EXPECT_LT(large, config_for(patient).model.d_model);
}

TEST(SuggestedConfig, DropsOutMoreOfWhatOtherModelsReadOften) {
  EXPECT_EQ(config_for(text_of(200'000, 60)).model.dropout, 0.1);
  EXPECT_EQ(config_for(text_of(200'000, 60, "t5")).model.dropout, 0.2);
  EXPECT_EQ(config_for(text_of(20'000'000, 60, "t5")).model.dropout, 0.1);
}

TEST(SuggestedConfig, ReadsATextAtMost25TimesAndPairs60Times) {
  OwnText text = text_of(2'048'000, 60);  // 400 steps read it once
  text.minutes = 10'000;
  EXPECT_NEAR(config_for(text).train.max_steps, 25 * 400, 12);
  text.like = "pairs";
  const RunConfig pairs = config_for(text);
  EXPECT_NEAR(pairs.train.max_steps, 60 * 400, 12);
  EXPECT_EQ(pairs.objective.type, "seq2seq");
  EXPECT_EQ(pairs.data.pairs, "mine.txt");
}

TEST(SuggestedConfig, DecaysWeightsInTwoPassesThroughTheText) {
  EXPECT_EQ(config_for(text_of(1'115'394, 65)).optimizer.weight_decay, 0.3);
  EXPECT_EQ(config_for(text_of(300'000, 80)).optimizer.weight_decay, 1);
  EXPECT_EQ(config_for(text_of(2'000, 60)).optimizer.weight_decay, 3);
  EXPECT_EQ(config_for(text_of(1'000'000'000, 90)).optimizer.weight_decay, 0.01);
}

TEST(SuggestedConfig, TrainsAsLongAsThereIsTimeButNotUntilTheTextIsKnownByHeart) {
  EXPECT_NEAR(steps_in_time(2000, 6000, 0), 2000, 40);  // and the film
  EXPECT_NEAR(steps_in_time(1e6, 6000, 0), 6000, 12);
  EXPECT_NEAR(steps_in_time(1e6, 60, 0), 300, 12);  // a tiny text
  EXPECT_EQ(steps_in_time(-5, 60, 1), 24);          // no time at all
}

TEST(SuggestedConfig, ValidatesRarelyWhereThatTakesLong) {
  for (const double in_time : {60.0, 200.0, 3000.0, 1e5})
    for (const double validation : {0.1, 2.0, 10.0, 40.0}) {
      const auto steps = static_cast<double>(steps_in_time(in_time, 1e9, validation));
      const double validating = whole_cost(steps, validation) - whole_cost(steps, 0);
      EXPECT_LE(validating, std::max(validation, 0.15 * steps));
      EXPECT_LE(whole_cost(steps, validation), std::max(1.2 * in_time, whole_cost(24, validation)));
      EXPECT_GE(whole_cost(steps, validation), 0.8 * in_time);
    }
  OwnText text = text_of(2'000'000, 80);  // 4 % are held out, and scoring them takes 10 steps
  text.minutes = 5;
  EXPECT_EQ(config_for(text).train.max_steps % config_for(text).train.eval_every.count, 0);
  text.like = "pairs";
  const RunConfig c = config_for(text);
  const double validation = c.data.valid_fraction * 2e6 / 2.5 / 2048 / 3;
  EXPECT_LE(static_cast<double>(c.train.max_steps / c.train.eval_every.count) * validation,
            0.15 * static_cast<double>(c.train.max_steps));
}

TEST(SuggestedConfig, CountsTheReadingOfALongText) {
  OwnText text = text_of(500'000'000, 90);
  text.minutes = 1;
  EXPECT_EQ(config_for(text).train.max_steps, 24);
}

TEST(SuggestedConfig, HoldsOutEnoughToMeasureAndNoMoreThanScoringAllows) {
  EXPECT_EQ(config_for(text_of(50, 20)).data.valid_fraction, 0);
  EXPECT_EQ(config_for(text_of(50, 20)).train.patience, 0);
  EXPECT_EQ(config_for(text_of(100'000, 60)).data.valid_fraction, 0.1);
  OwnText large = text_of(100'000'000, 90);
  EXPECT_LT(1e8 * config_for(large).data.valid_fraction, 1e6);
  large.minutes = 0.2;
  EXPECT_LT(1e8 * config_for(large).data.valid_fraction, 20e3);
}

TEST(SuggestedConfig, KeepsAStrangeNameOutOfItsText) {
  OwnText text = text_of(1'000, 60);
  text.name = "a\"\n{}{{b}}.txt";
  text.files = {text.name};
  const RunConfig c = config_for(text);
  EXPECT_EQ(c.data.train.paths, text.files);
}

TEST(NameOfText, IsThatOfTheFileOrFolderWithoutEndings) {
  EXPECT_EQ(name_of_text("-"), "stdin");
  EXPECT_EQ(name_of_text("a/mine.txt"), "mine");
  EXPECT_EQ(name_of_text("mine.txt.gz"), "mine");
  EXPECT_EQ(name_of_text("my.own.novel.txt"), "my.own.novel");
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "texts.d");
  for (const char* end : {"", "/", "/."})
    EXPECT_EQ(name_of_text((folder.path() / "texts.d").string() + end), "texts.d");
}

}  // namespace
}  // namespace heed
