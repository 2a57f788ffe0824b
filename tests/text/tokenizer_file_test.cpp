// Hostile tokenizer files.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error_of.h"
#include "text/piece_model.h"
#include "text/texts.h"
#include "text/trained_tokenizers.h"

namespace heed {
namespace {

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
      {"{", {"JSON"}},
      {"[]", {"object", "[]"}},
      {"{}", {"format"}},
      {R"({"format":"other"})", {"format"}},
      {R"({"format":"heed-tokenizer"})", {"version"}},
      {R"({"format":"heed-tokenizer","version":2})", {"version", "1"}},
      {R"({"format":"heed-tokenizer","format":"heed-tokenizer"})", {"format"}},
      {json("bpe", special, "[]"), {"type"}},
      {json("char", R"(["<unk>","<s>"])", R"(["a","b"])"), {"special"}},
      {json("char", R"(["<unk>","<s>","</s>","[A B]"])", R"(["a"])"), {"special"}},
      {json("char", R"(["<unk>","<s>","</s>","<s>"])", R"(["a"])"), {"special"}},
      {json("char", "7", R"(["a"])"), {"special"}},
      {json("char", special, R"(["a",7])"), {"tokens"}},
      {json("char", special, R"(["a","b","a"])"), {"a"}},
      {json("char", special, R"(["ab"])"), {"ab"}},
      {json("char", special, R"(["a",""])"), {}},
      {json("char", special, "[]"), {"tokens"}},
      {json("word", special, R"(["a b"])"), {"a b"}},
      {json("byte", special, R"(["a"])"), {"tokens"}},
      {json(R"(char","punctuation":"split)", special, R"(["a"])"), {"punctuation"}},
      {json(R"(word","punctuation":"keep)", special, R"(["a"])"), {"punctuation"}},
      {json("char", special, "[\"\xFF\"]"), {"JSON"}},
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
  for (const std::string& bytes : files) expect_refused(kTokenizerModel, bytes, {});
}

TEST(TokenizerFile, AModelWithOtherSettingsIsRefused) {
  // add_dummy_prefix = false is the two bytes 18 00 of the normalizer's settings; 18 01 is true.
  std::string bytes = write_piece_model(small_model());
  const std::size_t at = bytes.rfind(std::string("\x18\x00", 2));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] = 1;
  expect_refused(kTokenizerModel, bytes, {});
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
