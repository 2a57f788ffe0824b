#include "config/data_config.h"

#include "base/std_names.h"
#include "config/fields.h"

namespace heed {

vector<DataPath> paths_of(DataConfig& d) {
  vector<DataPath> paths = {{"source", &d.source},
                            {"target", &d.target},
                            {"pairs", &d.pairs},
                            {"valid_source", &d.valid_source},
                            {"valid_target", &d.valid_target},
                            {"valid_pairs", &d.valid_pairs}};
  for (string& path : d.train.paths) paths.emplace_back("train", &path);
  for (string& path : d.valid.paths) paths.emplace_back("valid", &path);
  erase_if(paths, [](const auto& path) { return path.second->empty(); });
  return paths;
}

// Paths may change on resume, because files move; a hash covers the content.
vector<Field> fields(DataConfig& c, const When& pairs) {
  constexpr auto kMoved = OnResume::allowed;
  const When all_in_one{"data without a held-out file",
                        c.has_valid_files() ? "a held-out file is given" : ""};
  return {
      {"train", &c.train,
       "text to train on: a file, a folder (the files directly in it, by name) or a list of these; "
       "a missing newline at the end is added; everywhere, gzip is unpacked, a byte order mark "
       "dropped, and UTF-16 that begins with its mark read as UTF-8 (but for tokenizer.type byte)",
       kAny, kMoved},
      {"source", &c.source, "source sentences, one per line (with `target`)", kAny, kMoved},
      {"target", &c.target, "target sentences, in the order of `source`", kAny, kMoved},
      {"pairs", &c.pairs, "lines of source, tab, target; those with an empty side are left out",
       kAny, kMoved},
      only(pairs, dumped_if(!c.columns.empty(),
                            {"columns", &c.columns,
                             "of a table, the numbers of the source's columns and, after a colon, "
                             "of the target's: 1,3:2; several are joined by a space"})),
      {"valid", &c.valid, "held-out text, like `train`", kAny, kMoved},
      {"valid_source", &c.valid_source, "held-out source sentences", kAny, kMoved},
      {"valid_target", &c.valid_target, "held-out target sentences", kAny, kMoved},
      {"valid_pairs", &c.valid_pairs, "held-out pairs", kAny, kMoved},
      only(all_in_one,
           {"valid_fraction", &c.valid_fraction,
            "hold out this share at the end of the data, from the next line on (or the next white "
            "space, if the line goes on for 1,000 bytes); 0 = nothing",
            kFraction, OnResume::refused, "0.1; 0 if a held-out file is given"}),
      {"limit", &c.limit,
       "train only on this much from the start of the data: bytes of text, to the end of the line, "
       "or pairs; 0 = all; the held-out part stays the same",
       between(0, 1e12)},
      {"normalize", choice(c.normalize, {"none", "nfc", "nfkc", "nfd", "nfkd"}),
       "nfc: one form for each character; nfd: in its parts, as letters and accents, or Korean "
       "letters; nfkc, nfkd: also for ligatures, full-width letters and such"},
      {"lowercase", &c.lowercase, "convert all text to lower case"},
      only(pairs,
           {"max_length", &c.max_length, "pairs with more tokens than this on one side are dropped",
            between(1, 1'000'000)}),
  };
}

// Of one vocabulary. `key`: of its section.
static vector<Field> fields(TokenizerConfig& c, const string& key, const Choice& type) {
  const auto types = [&](const vector<string>& of, bool dumped = true) {
    return among(key + ".type", type, of, dumped);
  };
  const When learnt{"a vocabulary that is learnt",
                    c.file.empty() ? "" : key + ".file gives the vocabulary", false};
  return {
      {"type", type, "the kind of token: a character, a byte, a word, or a learnt piece of text"},
      only(types({"char", "word", "bpe", "unigram"}),
           {"file", &c.file,
            "an existing vocabulary: tokenizer.json or tokenizer.model of a run, a SentencePiece "
            "model (bpe, unigram), or a list of tokens, one per line (char, word); empty = learn "
            "one",
            kAny, OnResume::allowed}),
      only(learnt, {"vocab_size", &c.vocab_size,
                    "number of ids, including special ones; 0 = as many as the text has (char, "
                    "byte, word), 4000 (bpe, unigram)",
                    between(0, 1'000'000)}),
      only(learnt, only(types({"char", "word"}),
                        {"min_frequency", &c.min_frequency,
                         "tokens rarer than this in the training text become `<unk>`; with 1, char "
                         "also knows all characters of the held-out part",
                         between(1, 1'000'000'000)})),
      only(learnt, only(types({"bpe", "unigram"}),
                        {"sample_bytes", &c.sample_bytes,
                         "learn the pieces from at most this many bytes of the training text",
                         between(1, 1e12)})),
      only(types({"word"}, false),
           {"punctuation", choice(c.punctuation, {"keep", "split"}),
            "whether punctuation marks and symbols stay part of their words or are tokens of "
            "their own"}),
  };
}

vector<Field> fields(TokenizersConfig& c, const When& pairs) {
  const auto& known = TokenizerConfig::kTypeNames;
  vector<string> names(known.begin(), known.end());
  vector<Field> all = fields(c, "tokenizer", choice(c.type, names));
  all.push_back(only(pairs, {"shared", &c.shared, "one vocabulary for source and target"}));
  names.emplace_back("none");
  const When own{"a target with a tokenizer of its own",
                 c.own_target() ? "" : "tokenizer.target.type is none", false};
  vector<Field> target = fields(c.target, "tokenizer.target", choice(c.target.type, names));
  target.front().doc += "; none: that of tokenizer; else shared is false";
  all.push_back(
      {"target", only(pairs, only(own, target)), "how its targets become ids, if not so"});
  return all;
}

vector<Field> fields(ObjectiveConfig& c, const vector<KindDoc>& objectives) {
  constexpr Range kLength = between(1, 1'000'000);
  const Choice type = choice(c.type, names(objectives));
  const auto users_of = [&](const char* key, bool dumped = true) {
    return among("objective.type", type, names(objectives, key), dumped);
  };
  return {
      {"type", type, meanings(objectives)},
      only(users_of("source_length"), {"source_length", &c.source_length,
                                       "the encoder reads at most this many tokens", kLength}),
      only(users_of("target_length"), {"target_length", &c.target_length,
                                       "the decoder writes this many tokens at a time", kLength}),
      only(users_of("mask_fraction"),
           {"mask_fraction", &c.mask_fraction, "the share of tokens to predict", above(0, 1)}),
      only(users_of("mean_span", false),
           {"mean_span", &c.mean_span, "the mean number of tokens of a masked span",
            between(1, 1e6)}),
      {"label_smoothing", &c.label_smoothing,
       "the share of probability spread over all tokens (training loss only)", kFraction},
  };
}

}  // namespace heed
