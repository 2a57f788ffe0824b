// Writes a few sound inputs for each fuzz target: make_seeds FOLDER gives FOLDER/fuzz_NAME/*.
#include <iostream>

#include "base/sha256.h"
#include "data/run_config.h"
#include "fuzz.h"
#include "store/safetensors.h"
#include "store/state.h"
#include "text/piece_model.h"
#include "text/token_list.h"

using namespace heed;
namespace fs = std::filesystem;

namespace {

class Seeds {
 public:
  Seeds(const fs::path& root, const std::string& target) : folder_(root / target) {
    fs::create_directories(folder_);
  }
  void add(std::string_view bytes) {
    std::ofstream(folder_ / std::to_string(++count_), std::ios::binary) << bytes;
  }
  fs::path next() { return folder_ / std::to_string(++count_); }

 private:
  fs::path folder_;
  int count_ = 0;
};

void make(const fs::path& root) {
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  Seeds tensors(root, "fuzz_safetensors");
  write_safetensors(tensors.next(), {});
  write_safetensors(tensors.next(), std::vector<TensorSlot>{{"a.weight", {2, 3}, numbers},
                                                            {"a.bias", {3}, numbers},
                                                            {"none", {0}, numbers},
                                                            {"one", {}, numbers}});

  Seeds states(root, "fuzz_state");
  StateFile file;
  file.files = {{"config.json", sha256("")}};
  const auto add_state = [&] {
    const std::string text = format_state(file);
    states.add(text);
    states.add(text.substr(0, text.rfind(",\n")));  // to be completed with a checksum
  };
  add_state();
  file.state.loss_sum = 0.1;
  file.state.best_metric = -std::numeric_limits<double>::infinity();
  file.state.best_loss = 1.25;
  add_state();

  Seeds configs(root, "fuzz_config");
  const std::string text = R"({"data": {"train": "a.txt"}})";
  configs.add(text);
  configs.add(dump_config(parse_config(text, "seed")));
  configs.add(R"({"data": {"pairs": "a"}, "objective": {"type": "seq2seq"}, // comment
    "tokenizer": {"type": "bpe", "vocab_size": 500}})");
  configs.add(R"({"data": {"train": "a"},
    "objective": {"type": "span_corruption", "mean_span": 2.5}})");

  Seeds tokenizers(root, "fuzz_tokenizer");
  using Type = TokenizerConfig::Type;
  tokenizers.add('\0' + tokenizer_json({.type = Type::char_, .tokens = {"\n", " ", "a", "ü"}}));
  tokenizers.add('\0' + tokenizer_json({.type = Type::byte, .further = {"[MASK]"}}));
  tokenizers.add('\0' + tokenizer_json({.type = Type::word, .tokens = {"a", "dog", "\n"}}));
  for (const bool unigram : {false, true}) {
    PieceModel model;
    model.unigram = unigram;
    if (unigram) model.specials = {"[MASK]"};
    model.pieces = {{"ab", 0.0f},
                    {std::string(kSpaceMark) + "a", -1.0f},
                    {"a", -2.0f},
                    {"b", -3.0f},
                    {std::string(kSpaceMark), -4.0f}};
    for (const char kind : {'\1', '\2'}) tokenizers.add(kind + write_piece_model(model));
  }

  Seeds corpora(root, "fuzz_corpus");
  corpora.add(std::string("\x02") + "A dog.\r\nEin Hund.\n\n");  // the first byte is no text
  corpora.add(std::string("\x01") + "\xff\xfe");
  corpora.add(std::string("\x04") + "A dog.\r\nEin Hund.\n");
  corpora.add(std::string("\x08") + "A dog.\tEin Hund.\nA cat.\tEine Katze\n");
  corpora.add(std::string("\x0c") + "A dog.\nEs war.\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw Error(Exit::usage, "make_seeds FOLDER");
    make(argv[1]);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
