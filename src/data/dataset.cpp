#include "data/dataset.h"

#include "base/sha256.h"
#include "data/objective.h"
#include "text/vocabulary_file.h"

namespace heed {

std::string DataHash::all() const {
  return valid.empty() ? data : sha256(data + valid);
}

Dataset load_dataset(const RunConfig& c, const std::string& folder, Tokenizers& tokenizers) {
  std::string note;
  if (!tokenizers.target && !c.tokenizer.file.empty()) {
    TrainedTokenizer t =
        read_vocabulary(c.tokenizer, further_specials(c), resolve_path(folder, c.tokenizer.file));
    tokenizers.target = std::move(t.tokenizer);
    note = t.note;
  }
  Dataset d = c.data.has_pairs() ? load_pair_dataset(c, folder, tokenizers)
                                 : load_text_dataset(c, folder, tokenizers);
  if (!note.empty()) d.notes.insert(d.notes.begin(), note);
  const auto say = [&](const Split& s, const char* name) {
    if (s.unknown.count > 0) d.notes.push_back(std::string(name) + ": " + s.unknown.summary());
    for (const std::string& text : s.notes) d.notes.push_back(std::string(name) + ": " + text);
  };
  say(d.train, "training data");
  say(d.valid, "validation data");
  return d;
}

}  // namespace heed
