#include "text/piece_normalizer.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "text/protobuf.h"

namespace heed {
namespace {

// The fields of sentencepiece_model.proto on the way to the table.
constexpr int kSpecField = 3, kTableField = 2;

std::string_view member(std::string_view message, int number) {
  const std::string path = "a trained model";
  for (ProtoReader reader(message, path); !reader.done();) {
    const ProtoReader::Field field = reader.next();
    if (field.number == number && field.wire == kProtoBytes) return field.bytes;
  }
  return {};
}

class OneLine final : public sentencepiece::SentenceIterator {
 public:
  bool done() const override { return done_; }
  void Next() override { done_ = true; }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::string line_ = "a b c";
  bool done_ = false;
};

// Of a model of a few characters.
std::string table_of(const std::string& name) {
  const std::unordered_map<std::string, std::string> settings = {{"model_type", "char"},
                                                                 {"vocab_size", "8"},
                                                                 {"hard_vocab_limit", "false"},
                                                                 {"minloglevel", "3"},
                                                                 {"normalization_rule_name", name}};
  std::string trained;
  OneLine line;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &line, &trained);
  if (!status.ok())
    throw Error(Exit::internal,
                "SentencePiece has no normaliser " + name + ": " + status.ToString());
  return std::string(member(member(trained, kSpecField), kTableField));
}

}  // namespace

const std::vector<std::string>& normalizers() {
  static const std::vector<std::string> names = {std::string(kIdentity), "nfkc", "nmt_nfkc",
                                                 "nfkc_cf", "nmt_nfkc_cf"};
  return names;
}

bool is_normalizer(std::string_view name) {
  return std::ranges::count(normalizers(), name) > 0;
}

const std::string& normalizer_table(const std::string& name) {
  static std::map<std::string, std::string> tables = {{std::string(kIdentity), ""}};
  if (!tables.contains(name)) tables[name] = table_of(name);
  return tables.at(name);
}

}  // namespace heed
