#include "evaluate/figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/std_names.h"
#include "text/utf8.h"

namespace heed {
namespace {

// Where the counts of a figure begin: of BLEU matches and n-grams of the hypothesis for each order,
// and the reference's length; of chrF2 n-grams of both sides and matches for each order; of
// characters and of tokens errors and the reference's length; exact lines and all lines.
constexpr size_t kBleuOrder = 4, kChrfOrder = 6, kBleu = kTranslation,
                 kChrf = kBleu + 2 * kBleuOrder + 1, kCharacters = kChrf + 3 * kChrfOrder,
                 kTokenErrors = kCharacters + 2, kExact = kTokenErrors + 2, kEnd = kExact + 2;

using Lines = vector<string>;    // a translation, then its references
using Symbols = std::u32string;  // characters, or the numbers of words
using Ngrams = vector<u32string_view>;

Ngrams sorted_ngrams(u32string_view symbols, size_t n) {
  Ngrams ngrams;
  for (size_t i = 0; i + n <= symbols.size(); ++i) ngrams.push_back(symbols.substr(i, n));
  ranges::sort(ngrams);
  return ngrams;
}

// An n-gram matches at most as often as it occurs on both sides: clipped counts.
struct NgramCounts {
  double hypothesis, reference, matches;
};

// The intersection of two sorted lists holds each n-gram as often as the list with fewer of it, the
// union as often as the list with more.
NgramCounts count_ngrams(const Symbols& hypothesis, span<const Symbols> references, size_t n) {
  const Ngrams h = sorted_ngrams(hypothesis, n);
  Ngrams r, both;
  for (const Symbols& reference : references) {
    const Ngrams others = std::move(r), more = sorted_ngrams(reference, n);
    r = {};
    ranges::set_union(others, more, std::back_inserter(r));
  }
  ranges::set_intersection(h, r, std::back_inserter(both));
  return {double(h.size()), double(r.size()), double(both.size())};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Puts spaces around one of two neighbours wherever applies(first, second), then continues after
// the pair. Pairs do not overlap: in "..." the middle dot belongs to one pair only. Working on
// bytes is enough, since the bytes of a longer character are neither digits nor punctuation.
template <class Applies>
string split_pairs(const string& text, bool split_second, Applies applies) {
  string out;
  for (size_t i = 0; i < text.size(); ++i) {
    string next{text[i]};
    if (i + 1 < text.size() && applies(text[i], text[i + 1])) {
      next += {' ', text[++i]};
      next.insert(split_second ? 3 : 0, " ");
    }
    out += next;
  }
  return out;
}

bool is_point(char c) {
  return c == '.' || c == ',';
}

// Spaces around symbols, around . and , but between digits, and after a - that follows a digit.
string tokenize_13a(string_view line) {
  string text = replace_all(line, "<skipped>", "");
  for (const auto& [entity, symbol] :
       {pair{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    text = replace_all(text, entity, symbol);
  constexpr string_view kSplitOff = "!\"#$%&()*+/:;<=>?@[\\]^_`{|}~";  // not ' , - .
  string spaced;
  for (const char c : " " + text + " ")
    spaced += kSplitOff.find(c) == kSplitOff.npos ? string{c} : string{' ', c, ' '};
  spaced = split_pairs(spaced, true, [](char a, char b) { return !is_digit(a) && is_point(b); });
  spaced = split_pairs(spaced, false, [](char a, char b) { return is_point(a) && !is_digit(b); });
  return split_pairs(spaced, true, [](char a, char b) { return is_digit(a) && b == '-'; });
}

// split(line, add) calls add(word) for each of its words.
template <class Split>
vector<Symbols> numbered(const Lines& lines, Split split) {
  unordered_map<string, char32_t> numbers;
  vector<Symbols> all;
  for (const string& line : lines) {
    Symbols& words = all.emplace_back();
    split(line, [&](string_view word) {
      words += numbers.try_emplace(string(word), numbers.size()).first->second;
    });
  }
  return all;
}

Sums bleu_counts(const Lines& lines, const string& tokenizer) {
  const vector<Symbols> all = numbered(lines, [&](const string& text, auto add) {
    ranges::for_each(split_words(bleu_words(text, tokenizer)), add);
  });
  const auto references = span(all).subspan(1);
  Sums counts;
  for (size_t n = 1; n <= kBleuOrder; ++n) {
    const NgramCounts c = count_ngrams(all[0], references, n);
    counts.insert(counts.end(), {c.matches, c.hypothesis});
  }
  const Symbols closest = ranges::min(references, {}, [&](const Symbols& reference) {
    return pair(abs(ssize(all[0]) - ssize(reference)), reference.size());
  });
  counts.push_back(double(closest.size()));
  return counts;
}

struct Bleu {
  double score = 0, brevity_penalty = 0;
  array<double, kBleuOrder> precisions{};  // percent, smoothed
};

// BLEU = BP · exp(mean of log p_n),  BP = min(1, exp(1 - r/h)). The k-th order without a match gets
// p_n = 100 / (2^k · total_n). Without any match BLEU is 0.
Bleu bleu_of(const Sums& sums) {
  const double *counts = &sums[kBleu], h = counts[1], r = counts[2 * kBleuOrder];
  Bleu bleu{.brevity_penalty = h >= r ? 1.0 : h > 0 ? exp(1 - r / h) : 0.0};
  if (counts[0] == 0) return bleu;
  double smoothing = 1, log_sum = 0;
  for (double& precision : bleu.precisions) {
    const double matches = *counts++, total = *counts++;
    if (total == 0) return bleu;  // no n-grams of this order: log 0
    precision = 100 * (matches > 0 ? matches : 1 / (smoothing *= 2)) / total;
    log_sum += std::log(precision);
  }
  bleu.score = bleu.brevity_penalty * exp(log_sum / 4);
  return bleu;
}

vector<Symbols> characters(const Lines& lines, bool spaces) {
  vector<Symbols> all;
  for (const string& line : lines) {
    Symbols& symbols = all.emplace_back();
    each_code_point(line, [&](CodePoint c, size_t) {
      if (spaces || !is_space(c.value)) symbols.push_back(c.value);
    });
  }
  return all;
}

// (1 + b²) P R / (b² P + R), b = 2, P and R the means over the orders that both sides have.
double chrf_of(const double* counts) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (size_t n = 0; n < kChrfOrder; ++n, counts += 3) {
    if (counts[0] == 0 || counts[1] == 0) continue;
    precision += counts[2] / counts[0];
    recall += counts[2] / counts[1];
    ++orders;
  }
  if (orders == 0 || precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  return 100 * 5 * precision * recall / (4 * precision + recall);
}

Sums chrf_counts(const vector<Symbols>& all) {
  vector<Sums> each;
  for (size_t i = 1; i < all.size(); ++i) {
    Sums& counts = each.emplace_back();
    for (size_t n = 1; n <= kChrfOrder; ++n) {
      const NgramCounts c = count_ngrams(all[0], {&all[i], 1}, n);
      // As sacreBLEU since 2.0: an order that the reference lacks does not count.
      counts.insert(counts.end(), {c.reference == 0 ? 0 : c.hypothesis, c.reference, c.matches});
    }
  }
  return ranges::max(each, {}, [](const Sums& counts) { return chrf_of(counts.data()); });
}

// Levenshtein's, by the table of distances between beginnings, row by row (Wagner and Fischer
// 1974).
int64_t distance(const Symbols& a, const Symbols& b) {
  vector<int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char32_t c : a) {
    int64_t replaced = row[0]++;
    for (size_t j = 1; j < row.size(); ++j) {
      replaced += c == b[j - 1] ? 0 : 1;
      row[j] = min({exchange(replaced, row[j]), row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// Of two references equally near the longer.
Sums error_counts(const vector<Symbols>& all) {
  pair<double, double> least{INFINITY, 0};  // errors, -length
  for (const Symbols& reference : span(all).subspan(1))
    least = min(least, {double(distance(all[0], reference)), -double(reference.size())});
  return {least.first, -least.second};
}

Sums token_counts(const Lines& lines, const BleuOptions& how) {
  return error_counts(numbered(lines, [&](const string& text, auto add) {
    if (how.counts_words()) return void(ranges::for_each(split_words(text), add));
    const string read = normalize(text, how.form);
    how.units->scan(read, [&](const Token& token) {
      add(string_view(read).substr(token.begin, token.end - token.begin));
    });
  }));
}

double percent(const Sums& sums, size_t place) {  // of the sum in the next place
  return 100 * sums[place] / max(1.0, sums[place + 1]);
}

double loss_of(const Sums& sums) {
  return sums[kNats] / sums[kTokens];
}

double perplexity_of(const Sums& sums) {
  return exp(loss_of(sums));
}

constexpr Figure kFigures[] = {
    {"loss", "loss", "nats per token", 4, Figure::tokens, loss_of, "nats per token", true, kNats,
     kTokens + 1},
    {"perplexity", "perplexity", "per token", 3, Figure::unmasked_tokens, perplexity_of},
    {"masked_perplexity", "masked perplexity", "per token", 3, Figure::masked_tokens,
     perplexity_of},
    {"accuracy", "accuracy", "of the tokens, </s> aside", 4, Figure::tokens,
     [](const Sums& s) { return s[kRight] / s[kJudged]; }, "accuracy", false, kRight, kJudged + 1},
    {"bits_per_byte", "bits per byte",
     "(compares models with different tokenizers; perplexity does not)", 4, Figure::bytes,
     [](const Sums& s) { return s[kNats] / (std::numbers::ln2 * s[kBytes]); }, "bits per byte",
     true, kNats, kBytes + 1},
    {"bleu", "BLEU", "", 2, Figure::translations, [](const Sums& s) { return bleu_of(s).score; },
     "BLEU", false, kBleu, kChrf},
    {"chrf", "chrF2", "", 2, Figure::translations, [](const Sums& s) { return chrf_of(&s[kChrf]); },
     "chrF2", false, kChrf, kCharacters},
    {"cer", "character errors", "%", 2, Figure::translations,
     [](const Sums& s) { return percent(s, kCharacters); }, "% character errors", true, kCharacters,
     kTokenErrors},
    {"token_errors", "token errors", "%", 2, Figure::translations,
     [](const Sums& s) { return percent(s, kTokenErrors); }, "% token errors (words)", true,
     kTokenErrors, kExact},
    {"exact", "exact match", "%", 2, Figure::translations,
     [](const Sums& s) { return percent(s, kExact); }, "% exact match", false, kExact, kEnd},
};

}  // namespace

Sums& operator+=(Sums& sums, const Sums& more) {
  sums.resize(max(sums.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
  return sums;
}

span<const Figure> figures() {
  return kFigures;
}

const Figure& figure(string_view key) {
  const auto found = ranges::find(kFigures, key, &Figure::key);
  if (found == std::end(kFigures)) throw store_error("no figure is called {}", key);
  return *found;
}

const Figure* selecting_figure(string_view select_by) {
  return select_by == "loss" ? nullptr : &figure(select_by);
}

Sums translation_counts(const string& hypothesis, const vector<string>& references,
                        const BleuOptions& how) {
  Lines lines = appended(Lines{hypothesis}, references);
  if (how.lowercase) ranges::transform(lines, lines.begin(), to_lower);
  Sums counts(kTranslation);
  for (const Sums& more : {bleu_counts(lines, how.tokenize), chrf_counts(characters(lines, false)),
                           error_counts(characters(lines, true)), token_counts(lines, how),
                           Sums{ranges::count(lines, lines[0]) > 1 ? 1.0 : 0.0, 1.0}})
    counts.insert(counts.end(), more.begin(), more.end());
  return counts;
}

string bleu_line(const Sums& sums) {
  const auto [score, brevity_penalty, p] = bleu_of(sums);
  const double h = sums[kBleu + 1], r = sums[kBleu + 2 * kBleuOrder];
  return fmt::format(
      "BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {:.0f} "
      "ref_len = {:.0f})",
      score, p[0], p[1], p[2], p[3], brevity_penalty, r > 0 ? h / r : 0.0, h, r);
}

string bleu_words(string_view line, const string& tokenizer) {
  return tokenizer == "13a" ? tokenize_13a(line) : string(line);
}

}  // namespace heed
