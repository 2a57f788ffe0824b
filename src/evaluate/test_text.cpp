#include "evaluate/test_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/format.h"
#include "base/std_names.h"
#include "evaluate/scorer.h"
#include "store/run.h"

namespace heed {
namespace {

RunConfig as_written(RunConfig config) {
  config.data.lowercase = false;
  config.data.normalize = Normalize::none;
  return config;
}

}  // namespace

RunData run_data(Model& m) {
  const DataPlace place = data_place(m);
  RunData data{load_dataset(place.config, place.folder, m.tokenizers), ""};
  if (!place.moved.empty()) data.valid.notes.push_back(place.moved);
  if (data.hash.all() == m.state.data_hash) return data;
  if (!place.moved.empty())
    throw data_error("{} is missing its data; {}, but that is other data.", m.run, place.moved);
  data.change = fmt::format("the data files of {} have changed since it was trained", m.run);
  return data;
}

TrainingLines training_lines(string run, LineFacts read) {
  TrainingLines lines{std::move(read), ""};
  set<string> seen;  // a run may have begun with what it replaced
  try {
    while (!run.empty() && seen.insert(run).second) {
      Model m = load_model(open_checkpoint(run));
      const vector<uint64_t> more = run_data(m).train.facts.hashes;
      lines.hashes.insert(lines.hashes.end(), more.begin(), more.end());
      run = read_origin(m.run).init_from;
    }
  } catch (const Error& e) {
    lines.missing = fmt::format("the training data of {} cannot be read: {}", run, e.what());
  }
  return lines;
}

const Pairs& written_pairs(const Model& m, NamedText& named) {
  if (named.pairs) return *named.pairs;
  const ReadOptions options = read_options(as_written(m.config));
  if (named.files.empty()) {
    const DataPlace place = data_place(m);
    named.pairs = written_pairs(as_written(place.config), place.folder);
  } else if (named.target_files.empty()) {
    named.pairs = read_tsv(named.files[0], options, m.config.data.columns);
  } else {
    named.pairs = read_parallel(named.files[0], named.target_files[0], options,
                                span(named.target_files).subspan(1));
    const auto is_row = [](string_view line) { return line.find('\t') != line.npos; };
    if (!m.config.data.pairs.empty() && ranges::all_of(named.pairs->source, is_row))
      throw data_error("{} is a table, but --target-file names its targets.", named.files[0])
          .hint("--file " + named.files[0] + " alone");
  }
  return *named.pairs;
}

TestText test_text(Model& m, NamedText& named, const Pool& pool, Log& log) {
  const bool held_out = named.files.empty();
  if (held_out && !m.config.data.has_validation())
    throw usage_error("{} has no held-out data (data.valid_fraction 0).", m.run)
        .hint("another text (--file of evaluate and compare)");
  const bool pairs = m.objective->traits().pairs();
  if (!named.target_files.empty() && (held_out || !pairs))
    throw usage_error("--target-file belongs to --file, for models of pairs.");
  TestText text;
  const string from = read_origin(m.run).init_from;
  if (!held_out)
    text.split = pairs ? load_pairs(as_read(written_pairs(m, named), read_options(m.config)),
                                    m.config, m.tokenizers, pool.threads())
                       : load_text(named.files, m.config, m.tokenizers);
  TrainingLines lines;
  try {
    text.run = run_data(m);
    if (held_out) text.split = std::move(text.run->valid);
    lines = training_lines(from, text.run->train.facts);
  } catch (const Error& e) {
    if (held_out) throw;
    lines.missing = e.what();
  }
  Split& split = text.split;
  text.seen = double(common(lines, split.facts)) / max(1.0, double(split.facts.hashes.size()));
  if (text.run && !text.run->change.empty()) split.warnings.push_back(text.run->change);
  if (!held_out && text.seen > 0)
    split.warnings.push_back(leaks(lines, split.facts) + " of " + m.run +
                             (from.empty() ? "" : " or " + from));
  if (!held_out && !lines.missing.empty())
    split.notes.push_back(
        fmt::format("whether {} was trained on this text is not known: {}", m.run, lines.missing));
  if (split.unknown.count > 0) split.notes.push_back(m.run + ": " + split.unknown.summary());
  for (const string& warning : split.warnings)
    if (named.told.insert(warning).second) log.warn(warning);
  for (const string& note : split.notes)
    if (named.told.insert(note).second) log.info(note);
  return text;
}

SpeltText spelt(const Ids& ids, const Tokenizer& tokenizer) {
  SpeltText spelt;
  int previous = -1;
  for (size_t i = 0; i < ids.size(); ++i) {
    spelt.begins.push_back(spelt.text.size());
    spelt.text += ids[i] == Tokenizer::kUnk ? "\uFFFD" : tokenizer.text_after(previous, ids[i]);
    if (!tokenizer.is_special(ids[i])) previous = ids[i];
  }
  spelt.ends = unit_ends(spelt.text);
  return spelt;
}

vector<size_t> unit_ends(string_view text) {
  constexpr size_t kLeast = 256;
  const size_t longest = min<size_t>(4096, text.size() / kFewestUnits);
  vector<size_t> ends;
  size_t begin = 0;
  for (size_t line = 0, end = 0; line < text.size(); line = end) {
    end = min(text.find('\n', line), text.size() - 1) + 1;
    while (end - line > longest && end - begin >= 2 * kLeast) {
      for (begin += kLeast; begin < end && (text[begin] & 0xC0) == 0x80;) ++begin;
      ends.push_back(begin);
    }
    if (end - begin >= kLeast) ends.push_back(begin = end);
  }
  if (ends.empty()) ends.push_back(0);
  ends.back() = text.size();
  return ends;
}

System unit_sums(const Model& m, const Objective& objective, const Split& split,
                 const SpeltText& text, Pool& pool) {
  constexpr int64_t kAtOnce = 1024;
  const ObjectiveTraits& traits = objective.traits();
  const ObjectiveConfig& c = m.config.objective;
  const auto tile = size_t(objective.fills() ? c.source_length : c.target_length);
  const auto unit = [&](size_t example, size_t label) {
    if (split.pairs()) return example;
    const bool spans = objective.fills() && traits.decoder();
    return text.unit_of(example * tile + (spans ? 0 : label - traits.before_source));
  };
  System rows(split.pairs() ? split.sentences() : text.ends.size(), Sums(kTranslation));
  for (size_t i = 0, begin = 0; i < text.ends.size(); begin = text.ends[i++])
    rows[i][kBytes] = double(text.ends[i] - begin);
  const ExampleList list = objective.evaluation(split);
  for (int64_t begin = 0; begin < list.count; begin += kAtOnce) {
    vector<Example> examples(min(kAtOnce, list.count - begin));
    for (size_t i = 0; i < examples.size(); ++i) list.get(begin + i, examples[i]);
    const auto odds = label_odds(m.predictor(), examples, pool, 0);
    for (size_t i = 0; i < examples.size(); ++i) {
      auto token = odds[i].begin();
      for (size_t j = 0; j < examples[i].labels.size(); ++j) {
        if (examples[i].labels[j] < 0) continue;
        Sums& row = rows[unit(begin + i, j)];
        row[kNats] -= token->log_probability;
        ++row[kTokens];
        row[kJudged] += token->id != Tokenizer::kEos;
        row[kRight] += token->id != Tokenizer::kEos && token->rank == 1;
        ++token;
      }
    }
  }
  return rows;
}

size_t pair_on(const Pairs& pairs, size_t line) {
  return ranges::lower_bound(pairs.lines, line) - pairs.lines.begin();
}

}  // namespace heed
