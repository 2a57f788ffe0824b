#include "data/user_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/std_names.h"
#include "data/corpus.h"
#include "data/dataset.h"

namespace heed {
namespace {

constexpr string_view kBetweenSides = " ||| ";

// Is the target alone? Error (usage) if it needs its text.
bool is_target_alone(const GivenText& given, bool needs_text) {
  const bool alone = given.text.empty() && given.target && !given.is_line;
  if (alone && needs_text) throw usage_error("--target needs the TEXT that it belongs to.");
  return alone;
}

}  // namespace

TokenIds one_token(const string& word, const string& option, const Tokenizer& tokenizer) {
  TokenIds found, read;
  for (const string& text : {" " + word, word}) {
    const TokenIds ids = tokenizer.encode(text);
    if (!word.empty() && ids.size() == 1 && ids[0] != Tokenizer::kUnk) found.push_back(ids[0]);
    if (read.empty() || (!ids.empty() && ids.size() < read.size())) read = ids;
  }
  vector<string> names;
  for (int id = 0; id < tokenizer.size(); ++id) {
    names.push_back(tokenizer.piece(id));
    if (names.back() == word) found.push_back(id);
  }
  if (!found.empty()) return found;
  const bool several = read.size() > 1 && ranges::count(read, Tokenizer::kUnk) == 0;
  throw usage_error("{}: \"{}\" is not one token of this model{}", option, word,
                    several ? ", but several: " + some_of(tokenizer.pieces(read))
                            : did_you_mean(nearest(word, names)))
      .hint("heed tokenize shows what is");
}

string UserTexts::normalized(Side side, string_view text, const string& name) const {
  if (!read_options(config_).any_bytes) check_utf8(text, name);
  if (!config_.data.changes_text()) return string(text);
  string read;
  tokenizer(side).split_at_specials(text, [&](string_view part, int special) {
    read += as_read(part, read_options(config_));
    if (special >= 0) read += tokenizer(side).piece(special);
  });
  return read;
}

TokenizedText UserTexts::encode(Side side, const string& text, const string& name,
                                Unknown& unknown) const {
  string read = normalized(side, text, name);
  const Tokenizer& of_side = tokenizer(side);
  of_side.split_at_specials(read, [&](string_view part, int) { unknown += of_side.unknown(part); });
  vector<Token> tokens = of_side.tokens_with_specials(read);
  return {std::move(read), std::move(tokens)};
}

TokenizedText UserTexts::encode_known(Side side, const string& text, const string& name) {
  const bool held = ends_before_word(side, text);
  Unknown unknown;
  TokenizedText read = encode(side, text.substr(0, text.size() - held), name, unknown);
  count(unknown, read.tokens.size(), name);
  if (held && !read.tokens.empty()) {  // not the end, nor what does not begin with a space
    const Tokenizer& target = *tokenizers_.target;
    read.not_next = {Tokenizer::kEos};
    for (int id = target.first_ordinary_id(); id < target.size(); ++id)
      if (!target.text_after(read.tokens.back().id, id).starts_with(' '))
        read.not_next.push_back(id);
  }
  const bool words = tokenizer(side).type() == TokenizerConfig::word;  // they have no spaces at all
  read.before_space = held || (words && (text.ends_with(' ') || text.ends_with('\t')));
  return read;
}

void UserTexts::count(const Unknown& unknown, size_t tokens, const string& name) {
  if (unknown.count > 0 && unknown.count == tokens)
    throw data_error("{} has nothing that the model knows: {}.", name, unknown.summary())
        .hint("heed tokenize (of a source: --side source) shows what it knows");
  unknown_ += unknown;
}

bool UserTexts::ends_before_word(Side side, string_view text) const {
  const bool goes_on = side == Side::target || !objective_.traits().pairs();
  return goes_on && is_subword(tokenizer(side).type()) && text.size() > 1 && text.ends_with(' ');
}

TokenizedText UserTexts::prompt(const string& text) {
  const string name = "the prompt";
  const Side side = objective_.text_side();
  TokenizedText read = encode_known(side, text, name);
  const size_t ids = read.tokens.size();
  if (!objective_.continues())
    check_length(side, objective_.framed(side, read.ids()).size(), name);
  else if (const int longest = objective_.longest(side); std::cmp_greater(ids, longest))
    warn(fmt::format("{} has {} tokens; the model reads only the last {}", name, ids, longest));
  return read;
}

TokenizedText UserTexts::inspected(Side side, const string& text, const string& name, bool is_line,
                                   bool cut) {
  if (text.empty() && side == objective_.text_side() && !is_line)
    throw data_error("{} is empty; expected a text.", name);
  TokenizedText read =
      encode_known(side, side == Side::source ? objective_.with_mask_tokens(text) : text, name);
  const size_t frame = objective_.framed(side, read.ids()).size() - read.tokens.size(),
               most = size_t(objective_.longest(side)) - frame;
  if (cut && objective_.traits().trained_on == 0 && read.tokens.size() > most) {
    log_.warn(
        fmt::format("{} has {} tokens; the model reads at most {} there: the first {} are read",
                    name, read.tokens.size(), most, most));
    read.tokens.resize(most);
    read.text.resize(read.tokens.back().end);
  }
  check_length(side, read.tokens.size() + frame, name);
  return read;
}

ReadText UserTexts::read(const GivenText& asked, bool cut) {
  const GivenText given = parted(asked);
  const ObjectiveTraits& traits = objective_.traits();
  ReadText out;
  const auto add = [&](Side side, const string& text, const string& name) {
    const TokenizedText tokens = inspected(side, text, name, given.is_line, cut);
    const bool source = side == Side::source;
    TokenIds& ids = source ? out.read.source : out.read.target;
    ids = objective_.framed(side, tokens.ids());
    auto& bytes = source ? out.source_bytes : out.target_bytes;
    bytes.resize(source ? traits.before_source : 1);
    for (const Token& token : tokens.tokens) bytes.push_back({token.begin, token.end});
    bytes.resize(ids.size(), {tokens.text.size(), tokens.text.size()});
    if (source) out.prompt = tokens.ids();
    out.not_next = tokens.not_next;
  };
  if (objective_.text_side() == Side::target) {  // one text, wherever it was given
    add(Side::target, given.text + given.target.value_or(""), given.name);
    return out;
  }
  if (is_target_alone(given, traits.scored_given != Given::maybe_source))
    out.read.source = objective_.framed_source({});
  else
    add(Side::source, given.text, given.name);
  if (out.read.source.empty()) throw data_error("{} is empty; expected a text.", given.name);
  if (!traits.decoder())
    out.words = normalized(Side::target, given.target.value_or(""), "--target");
  else if (given.target)
    add(Side::target, *given.target, "the target of " + given.name);
  return out;
}

ScoredLine UserTexts::scored(const GivenText& asked) {
  const GivenText given = parted(asked);
  const Given needed = objective_.traits().scored_given;
  if (given.target && needed == Given::nothing)
    throw usage_error("this model reads one text: --target does not apply.")
        .hint("TEXT, or the lines of --file");
  is_target_alone(given, needed == Given::source);
  string source, target = given.text;
  if (given.target) {
    source = given.text;
    target = *given.target;
  } else if (needed == Given::source) {
    std::deque<string> joined;
    auto sides = Columns(config_.data.columns).of(given.text, joined);
    if (const size_t bar = target.find(kBetweenSides); bar != target.npos)
      sides = {string_view(given.text).substr(0, bar),
               string_view(given.text).substr(bar + kBetweenSides.size())};
    if (!sides)
      throw data_error(
          "{}: this model scores pairs: expected a source, \" ||| \" or a tab, and a target.",
          given.name)
          .hint("heed score RUN TEXT --target T, or --target-file; of a table: cut -f1,2");
    source = (*sides)[0];
    target = (*sides)[1];
  }
  const auto ids = [&](Side side, string_view text) {
    return line(side, normalized(side, text, given.name), given.name);
  };
  const TokenIds read = ids(Side::source, source);
  return objective_.score(read, ids(Side::target, target), tokenizer(Side::target).size());
}

GivenText UserTexts::parted(GivenText given) const {
  if (given.target && ends_before_word(Side::source, given.text)) {
    given.text.pop_back();
    given.target->insert(0, " ");
  }
  return given;
}

TokenIds UserTexts::line(Side side, string_view line, const string& name) {
  TokenIds ids = tokenizer(side).encode(line);
  count(tokenizer(side).unknown(line), ids.size(), name);
  return ids;
}

}  // namespace heed
