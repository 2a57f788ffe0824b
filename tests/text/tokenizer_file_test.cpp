// Hostile tokenizer files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "text/piece_model.h"
#include "text/texts.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void expect_refused(std::string_view name, const std::string& bytes, const std::string& part) {
  try {
    load_tokenizer(name, bytes, "run/tokenizer");
    ADD_FAILURE() << "accepted: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::store);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("run/tokenizer"), HasSubstr(part)));
  }
}

std::string json(const std::string& type, const std::string& special, const std::string& tokens) {
  return R"({"format":"heed-tokenizer","version":1,"type":")" + type + R"(","special":)" + special +
         R"(,"tokens":)" + tokens + "}";
}

TEST(TokenizerFile, JsonThatIsWrong) {
  const std::string special = R"(["<unk>","<s>","</s>"])";
  EXPECT_EQ(load_tokenizer(kTokenizerJson, json("char", special, R"(["a","b"])"), "p")->size(), 5);
  const std::array<std::array<std::string, 2>, 23> cases = {{
      {"", "this is not JSON"},
      {"{", "this is not JSON"},
      {"[]", "expected a JSON object; found []"},
      {"{}", "\"format\" is missing"},
      {R"({"format":"other"})", "\"format\" must be"},
      {R"({"format":"heed-tokenizer"})", "\"version\" is missing"},
      {R"({"format":"heed-tokenizer","version":2})", "\"version\" must be 1"},
      {R"({"format":"heed-tokenizer","format":"heed-tokenizer"})", "occurs twice"},
      {json("bpe", special, "[]"), "\"type\" must be"},
      {json("char", R"(["<unk>","<s>"])", R"(["a","b"])"), "\"special\" must be"},
      {json("char", R"(["<unk>","<s>","</s>","[A B]"])", R"(["a"])"), "\"special\" must be"},
      {json("char", R"(["<unk>","<s>","</s>","<s>"])", R"(["a"])"), "\"special\" must be"},
      {json("char", "7", R"(["a"])"), "\"special\" must be a list of strings"},
      {json("char", special, R"(["a",7])"), "\"tokens\" must be a list of strings"},
      {json("char", special, R"(["a","b","a"])"), "the token \"a\" appears twice"},
      {json("char", special, R"(["ab"])"), "more than one character"},
      {json("char", special, R"(["a",""])"), "a token is empty"},
      {json("char", special, "[]"), "\"tokens\" is empty"},
      {json("word", special, R"(["a b"])"), "not a word"},
      {json("byte", special, R"(["a"])"), "must be empty"},
      {json(R"(char","punctuation":"split)", special, R"(["a"])"), "\"punctuation\" must be"},
      {json(R"(word","punctuation":"keep)", special, R"(["a"])"), "\"punctuation\" must be"},
      {json("char", special, "[\"\xFF\"]"), "this is not JSON"},
  }};
  for (const auto& [bytes, part] : cases) expect_refused(kTokenizerJson, bytes, part);
  expect_refused(kTokenizerJson, std::string(Tokenizer::kMaxFileBytes + 1, ' '), "bytes");
  expect_refused(kTokenizerJson, std::string(100'000, '['), "nested too deeply");
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
  const std::string nan_model = changed([](PieceModel& m) { m.pieces[2].score = NAN; });
  const std::array<std::array<std::string, 2>, 15> cases = {{
      {"", "too few pieces"},
      {"not protobuf", "run/tokenizer"},
      {write_piece_model(small_model()) + "x", "cut short"},
      {nan_model, "no finite score"},
      {changed([](PieceModel& m) { m.pieces.clear(); }), "too few pieces"},
      {changed([](PieceModel& m) { m.pieces[3].text = "a"; }), "appears twice"},
      {changed([](PieceModel& m) { m.pieces[3].text = "<s>"; }), "appears twice"},
      {changed([](PieceModel& m) { m.pieces[3].text = ""; }), "is empty"},
      {changed([](PieceModel& m) { m.pieces[3].text = "a b"; }), "no piece may have"},
      {changed([](PieceModel& m) { m.pieces[3].text = "a▁"; }), "no piece may have"},
      {changed([](PieceModel& m) { m.pieces[3].text = "\xFF"; }), "no piece may have"},
      {changed([](PieceModel& m) { m.pieces[3].text.assign(300, 'a'); }), "too long"},
      {changed([](PieceModel& m) { m.specials = {"a b"}; }), "invalid name"},
      {changed([](PieceModel& m) {
         m.specials = {"[A]", "[A]"};
       }),
       "appears twice"},
      {changed([](PieceModel& m) { m.specials = {"<0x41>"}; }), "appears twice"},
  }};
  for (const auto& [bytes, part] : cases) expect_refused(kTokenizerModel, bytes, part);
}

TEST(TokenizerFile, AModelWithOtherSettingsIsRefused) {
  // add_dummy_prefix = false is the two bytes 18 00 of the normalizer's settings; 18 01 is true.
  std::string bytes = write_piece_model(small_model());
  const std::size_t at = bytes.rfind(std::string("\x18\x00", 2));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = 1;
  expect_refused(kTokenizerModel, bytes, "its settings differ");
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
