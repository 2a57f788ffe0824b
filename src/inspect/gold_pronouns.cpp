#include "inspect/gold_pronouns.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "data/corpus.h"
#include "data/data_files.h"
#include "inspect/gold.h"
#include "text/utf8.h"

namespace heed {
namespace {

// One pronoun, the noun it refers to and all earlier mentions of the referent, as tokens.
struct Pronoun {
  Span at;
  std::vector<Span> noun, mentions;
};

// A story, its tokens and its pronouns; the spans below count these tokens.
struct Story {
  Span bytes;
  std::vector<Token> tokens;
  std::vector<Pronoun> pronouns = {};

  // The tokens that overlap some bytes of the text.
  Span tokens_of(Span text_bytes) const {
    const Span at{text_bytes.begin - bytes.begin, text_bytes.end - bytes.begin};
    Span found{tokens.size(), tokens.size()};
    for (std::size_t t = 0; t < tokens.size(); ++t)
      if (at.overlaps({tokens[t].begin, tokens[t].end})) {
        found.begin = std::min(found.begin, t);
        found.end = t + 1;
      }
    return found;
  }
  std::vector<int> ids(std::size_t begin, std::size_t end) const {
    std::vector<int> ids;
    for (std::size_t t = begin; t < end; ++t) ids.push_back(tokens[t].id);
    return ids;
  }
};

// The rows of these tokens, if the stack reads the story tokens of `window` from row `shift` on.
// Empty unless all of them lie in the window.
std::vector<int> rows_of(const std::vector<Span>& spans, Span window, std::size_t shift) {
  std::set<int> rows;
  for (const Span& span : spans) {
    if (span.begin < window.begin || span.end > window.end) return {};
    for (std::size_t t = span.begin; t < span.end; ++t)
      rows.insert(static_cast<int>(t - window.begin + shift));
  }
  return {rows.begin(), rows.end()};
}

// The rows of the noun, and of all mentions in the window.
std::vector<int> right_rows(const Pronoun& pronoun, const std::vector<int>& noun, Span window,
                            std::size_t shift) {
  std::set<int> right(noun.begin(), noun.end());
  for (const Span& mention : pronoun.mentions)
    for (const int row : rows_of({mention}, window, shift)) right.insert(row);
  return {right.begin(), right.end()};
}

// The input ends with the pronoun.
GoldExample example_of(const Story& story, const Pronoun& pronoun, AttentionKind kind,
                       const Objective& objective) {
  const bool decoder = kind == AttentionKind::decoder_self;
  const std::size_t shift = decoder ? 1 : objective.traits().before_source;
  const std::size_t end = pronoun.at.end;
  const std::size_t longest_source = objective.traits().longest_source;
  const std::size_t room = (decoder ? objective.traits().longest_target : longest_source) - shift;
  const Span window{end - std::min(room, end), end};
  GoldExample example;
  TokenIds& source = example.input.source;
  if (decoder) {
    example.input.target = Objective::framed_target(story.ids(window.begin, window.end));
    const std::size_t before = std::min(window.begin, longest_source);
    source = objective.framed_source(story.ids(window.begin - before, window.begin));
  } else {
    source = objective.framed_source(story.ids(window.begin, window.end));
    if (objective.traits().decoder()) example.input.target = Objective::framed_target({});
  }
  const std::vector<int> keys = rows_of(pronoun.noun, window, shift);
  if (keys.empty() || pronoun.at.begin < window.begin) return example;
  const std::vector<int> right = right_rows(pronoun, keys, window, shift);
  for (const int query : rows_of({pronoun.at}, window, shift))
    example.links.push_back({query, keys, right});
  for (const Pronoun& other : story.pronouns) {
    const auto rows = rows_of(other.noun, {window.begin, pronoun.at.begin}, shift);
    if (!rows.empty() && disjoint(rows, right)) example.add_distractor(rows);
  }
  return example;
}

class StoryReader {
 public:
  StoryReader(const GoldFiles& files, const RunConfig& config, const Tokenizer& tokenizer)
      : tokenizer_(tokenizer),
        reading_(read_options(config)),
        text_(read_text(std::array{files.source}, reading_)),
        begins_(character_begins(text_)) {}

  // Adds the pronoun of a line to the last story, or a story that begins with it.
  void read(const GoldLine& line, std::vector<Story>& stories) const {
    const Span bytes = bytes_of(line, line.at("story"), "\"story\"");
    if (stories.empty() || stories.back().bytes != bytes)
      stories.push_back({bytes, tokenizer_.encode_with_offsets(std::string_view(text_).substr(
                                    bytes.begin, bytes.end - bytes.begin))});
    Story& story = stories.back();
    const auto tokens_of = [&](const nlohmann::json& value, const char* what) {
      const Span span = bytes_of(line, value, what);
      if (span.begin < bytes.begin || span.end > bytes.end)
        line.fail(fmt::format("{} lies outside its story.", what));
      return story.tokens_of(span);
    };
    Pronoun pronoun{tokens_of(line.at("pronoun"), "\"pronoun\""), {}, {}};
    for (const nlohmann::json& noun : line.array(line.at("noun"), "\"noun\""))
      pronoun.noun.push_back(tokens_of(noun, "\"noun\""));
    if (pronoun.noun.empty()) line.fail("\"noun\" must not be empty.");
    if (line.has("mentions"))
      for (const nlohmann::json& mention : line.array(line.at("mentions"), "\"mentions\""))
        pronoun.mentions.push_back(tokens_of(mention, "\"mentions\""));
    story.pronouns.push_back(std::move(pronoun));
  }

 private:
  // [begin, end] or [begin, end, word] in characters; the text must have the word there.
  Span bytes_of(const GoldLine& line, const nlohmann::json& value, const char* what) const {
    const Span characters = line.span(value, begins_.size() - 1, what);
    const Span bytes{begins_[characters.begin], begins_[characters.end]};
    if (value.size() < 3) return bytes;
    if (!value[2].is_string()) line.fail(fmt::format("{}: the word must be a string.", what));
    const std::string found = text_.substr(bytes.begin, bytes.end - bytes.begin);
    const std::string expected = value[2].get<std::string>();
    if (found != as_read(expected, reading_))
      line.fail(
          fmt::format("{} is \"{}\", but the text has \"{}\" there. Does the gold file belong "
                      "to this text?",
                      what, printable(expected), printable(found)));
    return bytes;
  }

  const Tokenizer& tokenizer_;
  ReadOptions reading_;
  std::string text_;
  std::vector<std::size_t> begins_;
};

}  // namespace

std::vector<GoldSet> read_pronoun_gold(const GoldFiles& files,
                                       const std::vector<std::string>& lines,
                                       const RunConfig& config, const Tokenizers& tokenizers) {
  const StoryReader reader(files, config, *tokenizers.target);
  std::vector<Story> stories;
  const std::size_t n = files.limit > 0 ? std::min(files.limit, lines.size()) : lines.size();
  for (std::size_t i = 0; i < n; ++i) reader.read(GoldLine(files.gold, i + 1, lines[i]), stories);

  const auto objective = make_objective(config);
  std::vector<GoldSet> sets;
  const auto add_set = [&](AttentionKind kind) {
    GoldSet set{kind, {}, "stories", {}};
    std::size_t out_of_reach = 0;
    for (std::size_t s = 0; s < stories.size(); ++s)
      for (const Pronoun& pronoun : stories[s].pronouns) {
        GoldExample example = example_of(stories[s], pronoun, kind, *objective);
        example.group = static_cast<int>(s);
        if (example.links.empty())
          ++out_of_reach;
        else
          set.examples.push_back(std::move(example));
      }
    if (out_of_reach > 0)
      set.notes.push_back(fmt::format(
          "{} pronouns left out: their noun is farther back than the model reads", out_of_reach));
    sets.push_back(std::move(set));
  };
  if (objective->traits().encoder()) add_set(AttentionKind::encoder_self);
  if (objective->traits().decoder()) add_set(AttentionKind::decoder_self);
  return sets;
}

}  // namespace heed
