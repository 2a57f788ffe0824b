#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/error_of.h"
#include "text/piece_model.h"
#include "text/texts.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

constexpr std::array kTypes = {TokenizerConfig::char_, TokenizerConfig::byte, TokenizerConfig::word,
                               TokenizerConfig::bpe, TokenizerConfig::unigram};

TEST(Tokenizer, ReadsFurtherSpecialTokensByNameOnlyWhereAsked) {
  for (const Type type : kTypes) {
    TokenizerConfig config;
    config.type = type;
    TokenizerTrainer trainer(config, {"<x>", "<x>y", "[MASK]"}, 1);
    trainer.add(training_text() + "a <x>yb[MASK]");
    const auto trained = trainer.finish().tokenizer;
    const auto tokenizer = load_tokenizer(trained->file_name(), trained->serialize(), "file");
    EXPECT_EQ(tokenizer->specials(),
              (std::vector<std::string>{"<unk>", "<s>", "</s>", "<x>", "<x>y", "[MASK]"}));
    EXPECT_EQ(tokenizer->first_ordinary_id(), 6);
    std::vector<int> special;
    for (const int id : ids_of(tokenizer->tokens_with_specials("<x>a <x>ya[MASK]")))
      if (tokenizer->is_special(id)) special.push_back(id);
    EXPECT_EQ(special, (std::vector<int>{3, 4, 5}));  // of two names, the longer one
    for (const int id : tokenizer->encode("<x>a <x>ya[MASK]")) EXPECT_TRUE(id == 0 || id >= 6);
    EXPECT_EQ(tokenizer->decode(special, true), "<x><x>y[MASK]");
  }
}

class EveryTokenizer : public testing::TestWithParam<std::tuple<Type, bool>> {
 protected:
  Type type() const { return std::get<0>(GetParam()); }
  bool mask() const { return std::get<1>(GetParam()); }
};

TEST_P(EveryTokenizer, OffsetsCoverWhatTheTokensStandFor) {
  const std::string text = training_text().substr(0, training_text().find('\n', 400));
  const auto tokenizer = train(type(), training_text(), mask());
  const auto tokens = tokenizer->tokens_with_specials(text);
  const auto ids = tokenizer->encode(text);
  ASSERT_EQ(tokens.size(), ids.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i].id, ids[i]);
    EXPECT_GE(tokens[i].begin, end);
    end = tokens[i].end;
    EXPECT_EQ(text.substr(tokens[i].begin, end - tokens[i].begin),
              tokenizer->text_after(-1, tokens[i].id));
  }
}

TEST_P(EveryTokenizer, ItsFileGivesItBack) {
  const auto tokenizer = train(type(), training_text(), mask());
  const std::string bytes = tokenizer->serialize();
  const auto loaded = load_tokenizer(tokenizer->file_name(), bytes, "file");
  EXPECT_EQ(loaded->serialize(), bytes);
  EXPECT_EQ(loaded->size(), tokenizer->size());
  EXPECT_EQ(loaded->type(), type());
  EXPECT_EQ(loaded->specials(), tokenizer->specials());
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    const std::string text = random_text(random, 40);
    EXPECT_EQ(loaded->encode(text), tokenizer->encode(text));
  }
}

TEST_P(EveryTokenizer, TheSameTextGivesTheSameFile) {
  EXPECT_EQ(train(type(), training_text(), mask())->serialize(),
            train(type(), training_text(), mask())->serialize());
}

TEST_P(EveryTokenizer, LinesAndWordsAreEncodedAlone) {
  const auto tokenizer = train(type(), training_text(), mask());
  const std::string text = training_text().substr(0, 300);
  std::vector<int> joined;
  std::size_t begin = 0;
  for (std::size_t cut :
       {text.find('\n') + 1, text.find(" is the"), text.rfind(' '), text.size()}) {
    for (const int id : tokenizer->encode(text.substr(begin, cut - begin))) joined.push_back(id);
    begin = cut;
  }
  EXPECT_EQ(joined, tokenizer->encode(text));
}

TEST_P(EveryTokenizer, LearnsNothingFromOneCharacter) {
  if (type() == TokenizerConfig::byte) return;  // it learns nothing anyway
  TokenizerConfig config;
  config.type = type();
  for (const char* text : {"aaaaaaaa", ""})
    expect_error([&] { train(config, text); }, Exit::data, {"nothing to learn"});
}

std::string case_name(const testing::TestParamInfo<std::tuple<Type, bool>>& info) {
  return std::string(type_name(std::get<0>(info.param))) +
         (std::get<1>(info.param) ? "WithMask" : "");
}
INSTANTIATE_TEST_SUITE_P(All, EveryTokenizer,
                         testing::Combine(testing::ValuesIn(kTypes), testing::Bool()), case_name);

class RoundTrip : public testing::TestWithParam<Type> {};

TEST_P(RoundTrip, HoldsForAnyValidText) {
  // Trained on the hard texts too, so that they can do harm in training.
  std::string text = training_text();
  for (const std::string& hard : hard_texts()) text += hard;
  for (const bool hard_training : {false, true}) {
    const auto tokenizer = train(GetParam(), hard_training ? text : training_text(), hard_training);
    std::vector<std::string> texts = hard_texts();
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) texts.push_back(random_text(random, 1 + i % 60));
    for (const std::string& t : texts) {
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(t)), t) << printable(t);
      EXPECT_EQ(tokenizer->unknown(t).count, 0u);
    }
  }
}

TEST_P(RoundTrip, HoldsForBytesThatAreNoUtf8) {
  const auto tokenizer = train(GetParam(), training_text());
  const std::string text = "the \xFF\xC3 river\xE2\x96";
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
}

INSTANTIATE_TEST_SUITE_P(Lossless, RoundTrip,
                         testing::Values(TokenizerConfig::byte, TokenizerConfig::bpe,
                                         TokenizerConfig::unigram),
                         [](const auto& each) { return std::string(type_name(each.param)); });

TEST(CharTokenizer, OrdersByFrequencyThenCodePoint) {
  const auto tokenizer = train(TokenizerConfig::char_, "bbäaé\naé b");
  // b 3; a, é 2; newline, space, ä 1.
  EXPECT_EQ(pieces(*tokenizer, "baé\n ä"),
            (std::vector<std::string>{"b", "a", "é", "\\n", " ", "ä"}));
  EXPECT_EQ(tokenizer->encode("baé\n ä"), (std::vector<int>{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(tokenizer->size(), 9);
}

TEST(CharTokenizer, CountsAndNamesUnknownCharacters) {
  const auto tokenizer = train(TokenizerConfig::char_, "abc");
  const Unknown unknown = tokenizer->unknown("aéxé\nb");
  EXPECT_EQ(unknown.count, 4u);
  EXPECT_EQ(unknown.kinds, (std::vector<std::string>{"é", "x", "\n"}));
  EXPECT_EQ(unknown.summary(), "4 unknown tokens: 'é' (U+00E9), 'x', '\\n'");
  EXPECT_TRUE(tokenizer->unknown("ABCDEFGHIJKLMNOPQRSTA").summary().ends_with(", 'T'"));
  EXPECT_TRUE(tokenizer->unknown("ABCDEFGHIJKLMNOPQRSTU").summary().ends_with(", 'T', ..."));
  Unknown both = tokenizer->unknown("xyx");
  both += tokenizer->unknown("yéx");
  EXPECT_EQ(both.summary(), "6 unknown tokens: 'x', 'y', 'é' (U+00E9)");
  const auto ids = tokenizer->encode("aéb");
  EXPECT_EQ(tokenizer->decode(ids), "ab");
  EXPECT_EQ(tokenizer->decode(ids, true), "a<unk>b");
}

TEST(CharTokenizer, VocabSizeCountsAllIds) {
  TokenizerConfig config;
  config.vocab_size = 6;
  const auto tokenizer = train(config, "aaabbbccd", true);
  EXPECT_EQ(tokenizer->size(), 6);
  EXPECT_EQ(tokenizer->encode("abcd"), (std::vector<int>{4, 5, 0, 0}));
  config.vocab_size = 0;
  config.min_frequency = 2;
  EXPECT_EQ(train(config, "aaabbbccd")->size(), 6);
  config.min_frequency = 3;
  expect_error([&] { train(config, "aaabbc"); }, Exit::data, {"nothing to learn"});
  config.vocab_size = 4;
  expect_error([&] { train(config, "aaabbc"); }, Exit::usage, {"tokenizer.vocab_size", "4"});
}

TEST(ByteTokenizer, ShowsBytesReadably) {
  const auto tokenizer = train(TokenizerConfig::byte, "ab");
  EXPECT_EQ(tokenizer->size(), 259);
  EXPECT_EQ(pieces(*tokenizer, "a\n\tß"),
            (std::vector<std::string>{"a", "\\n", "\\t", "<0xC3>", "<0x9F>"}));
}

TEST(WordTokenizer, JoinsWordsByOneSpaceAndNoneBesideNewlines) {
  const auto tokenizer = train(TokenizerConfig::word, "one two\nthree \n\n");
  EXPECT_EQ(pieces(*tokenizer, " two\tone\r\n\nthree one"),
            (std::vector<std::string>{"two", "one", "\\n", "\\n", "three", "one"}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" two\tone \n\n three  one\n")),
            "two one\n\nthree one\n");
  EXPECT_EQ(tokenizer->unknown("one four  two").kinds, (std::vector<std::string>{"four"}));
}

TEST(WordTokenizer, SplitsPunctuationWhereAsked) {
  TokenizerConfig config;
  config.type = TokenizerConfig::word;
  config.punctuation = Punctuation::split;
  const std::string text =
      "He said: \u201CDon't stop (now)!\u201D\nA well-known and/or snake_case, 5 % \u2026 $ 3.14 "
      "\u3001";
  const auto tokenizer = train(config, text + " [MASK]", true);
  const auto same = [&](std::string_view a, std::string_view b) {
    EXPECT_EQ(tokenizer->encode(a), tokenizer->encode(b));
    EXPECT_EQ(tokenizer->unknown(a).count, 0u) << a;
  };
  same("stop.", "stop .");
  same("(now)!", " ( now\t) !");
  same("and/or,He", "and / or , He");
  EXPECT_NE(tokenizer->encode("stop"), tokenizer->encode("stop."));
  EXPECT_EQ(pieces(*tokenizer, "He said: \u201CDon't\u201D"),
            (std::vector<std::string>{"He", "said", ":", "\u201C", "Don", "'", "t", "\u201D"}));
  const auto back = [&](std::string_view written) {
    return tokenizer->decode(tokenizer->encode(written));
  };
  EXPECT_EQ(
      back("He said: \u201CDon't stop (now)!\u201D\nA well-known and/or snake_case, 5%\u2026"),
      "He said: \u201CDon't stop (now)!\u201D\nA well-known and/or snake_case, 5%\u2026");
  EXPECT_EQ(back("3.14 $ 5"), "3. 14 $ 5");  // not every text comes back
  EXPECT_EQ(tokenizer->tokens_with_specials("A [MASK].")[1].id, Tokenizer::kFirstFurther);

  const auto loaded = load_tokenizer(kTokenizerJson, tokenizer->serialize(), "file");
  EXPECT_EQ(loaded->encode(text), tokenizer->encode(text));
  EXPECT_EQ(loaded->serialize(), tokenizer->serialize());
  config.punctuation = Punctuation::keep;
  EXPECT_EQ(train(config, text)->serialize().find("punctuation"), std::string::npos);
}

// Hostile tokenizer files.

void expect_refused(std::string_view name, const std::string& bytes, Facts facts) {
  facts.push_back("run/tokenizer");
  expect_error([&] { load_tokenizer(name, bytes, "run/tokenizer"); }, Exit::store, facts);
}

std::string json(const std::string& type, const std::string& special, const std::string& tokens) {
  return R"({"format":"heed-tokenizer","version":1,"type":")" + type + R"(","special":)" + special +
         R"(,"tokens":)" + tokens + "}";
}

TEST(TokenizerFile, JsonThatIsWrong) {
  const std::string special = R"(["<unk>","<s>","</s>"])";
  EXPECT_EQ(load_tokenizer(kTokenizerJson, json("char", special, R"(["a","b"])"), "p")->size(), 5);
  const std::pair<std::string, Facts> cases[] = {
      {"", {"JSON"}},
      {"[]", {"object", "[]"}},
      {"{}", {"format"}},
      {R"({"format":"heed-tokenizer","version":2})", {"version", "1"}},
      {R"({"format":"heed-tokenizer","format":"heed-tokenizer"})", {"format"}},
      {json("bpe", special, "[]"), {"type"}},
      {json("char", R"(["<unk>","<s>","</s>","[A B]"])", R"(["a"])"), {"special"}},
      {json("char", R"(["<unk>","<s>","</s>","<s>"])", R"(["a"])"), {"special"}},
      {json("char", special, R"(["a",7])"), {"tokens"}},
      {json("char", special, R"(["a","b","a"])"), {"a"}},
      {json("char", special, R"(["ab"])"), {"ab"}},
      {json("char", special, "[]"), {"tokens"}},
      {json("word", special, R"(["a b"])"), {"a b"}},
      {json("byte", special, R"(["a"])"), {"tokens"}},
      {json(R"(char","punctuation":"split)", special, R"(["a"])"), {"punctuation"}},
      {json("char", special, "[\"\xFF\"]"), {"JSON"}},
      {json("char", special, R"(["a"])") + " // no", {"JSON"}},
  };
  for (const auto& [bytes, facts] : cases) expect_refused(kTokenizerJson, bytes, facts);
  expect_refused(kTokenizerJson, std::string(Tokenizer::kMaxFileBytes + 1, ' '), {"bytes"});
  expect_refused(kTokenizerJson, std::string(100'000, '['), {});
}

PieceModel small_model() {
  PieceModel model;
  model.pieces = {{"▁", -1}, {"a", -2}, {"b", -3}, {"ab", -4}};
  return model;
}

TEST(TokenizerFile, ModelThatIsWrong) {
  ASSERT_EQ(load_tokenizer(kTokenizerModel, write_piece_model(small_model()), "p")->size(), 263);
  const auto changed = [](const std::function<void(PieceModel&)>& change) {
    PieceModel model = small_model();
    change(model);
    return write_piece_model(model);
  };
  std::vector<std::string> files = {"", "not protobuf", write_piece_model(small_model()) + "x",
                                    changed([](PieceModel& m) { m.pieces[2].score = NAN; }),
                                    changed([](PieceModel& m) { m.pieces.clear(); })};
  for (const std::string text : {"a", "<s>", "", "a b", "a▁", "\xFF"})
    files.push_back(changed([&](PieceModel& m) { m.pieces[3].text = text; }));
  files.push_back(changed([](PieceModel& m) { m.pieces[3].text.assign(300, 'a'); }));
  for (const std::string name : {"a b", "<0x41>"})
    files.push_back(changed([&](PieceModel& m) { m.specials = {name}; }));
  files.push_back(changed([](PieceModel& m) { m.specials = {"[A]", "[A]"}; }));
  // add_dummy_prefix = false is the two bytes 18 00 of the normalizer's settings; 18 01 is true.
  files.push_back(write_piece_model(small_model()));
  const std::size_t at = files.back().rfind(std::string("\x18\x00", 2));
  ASSERT_NE(at, std::string::npos);
  files.back()[at + 1] = 1;
  for (const std::string& bytes : files) expect_refused(kTokenizerModel, bytes, {});
}

TEST(TokenizerFile, EveryFlippedBitAndEveryTruncationIsRefusedOrSound) {
  TokenizerConfig config;
  for (const auto type : {TokenizerConfig::char_, TokenizerConfig::word, TokenizerConfig::bpe,
                          TokenizerConfig::unigram}) {
    config.type = type;
    const std::string text = "the cat sat on the mat\nthe dög sat\n";
    const auto tokenizer = train_tokenizer(config, true, 1, text).tokenizer;
    const std::string bytes = tokenizer->serialize();
    const auto attempt = [&](const std::string& damaged) {
      try {
        const auto loaded = load_tokenizer(tokenizer->file_name(), damaged, "p");
        loaded->decode(loaded->encode(text));
      } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::store);
      }
    };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      attempt(damaged);
      if (i < bytes.size() - 1) {  // the last byte of the JSON file is a newline
        EXPECT_THROW(load_tokenizer(tokenizer->file_name(), bytes.substr(0, i), "p"), Error) << i;
      }
    }
  }
}

}  // namespace
}  // namespace heed
