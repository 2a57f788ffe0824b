#include "evaluate/bleu.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "text/utf8.h"

namespace heed {
namespace {

struct Judged {
  std::string hypothesis;
  std::vector<std::string> references;
};

std::vector<Judged> judged(std::span<const std::string> hypotheses,
                           std::span<const std::string> references, bool lowercase) {
  const std::size_t n = hypotheses.size();
  if (n == 0 || references.empty() || references.size() % n != 0)
    throw Error(Exit::data,
                fmt::format("every hypothesis needs a reference, and there must be at least one: "
                            "found {} hypotheses and {} references.",
                            n, references.size()));
  const auto cased = [&](const std::string& line) { return lowercase ? to_lower(line) : line; };
  std::vector<Judged> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i].hypothesis = cased(hypotheses[i]);
  for (std::size_t i = 0; i < references.size(); ++i)
    all[i % n].references.push_back(cased(references[i]));
  return all;
}

// All n-grams of `symbols`, sorted; n <= Max, unused places are zero.
template <int Max, class T>
std::vector<std::array<T, Max>> sorted_ngrams(const std::vector<T>& symbols, int n) {
  std::vector<std::array<T, Max>> ngrams;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) {
    std::array<T, Max> ngram{};
    std::copy_n(symbols.begin() + i, n, ngram.begin());
    ngrams.push_back(ngram);
  }
  std::sort(ngrams.begin(), ngrams.end());
  return ngrams;
}

// The intersection of two sorted lists holds each n-gram as often as the list with fewer of it, the
// union as often as the list with more.
template <int Max, class T>
NgramCounts count_ngrams(const std::vector<T>& hypothesis,
                         std::span<const std::vector<T>> references, int n) {
  const auto h = sorted_ngrams<Max>(hypothesis, n);
  std::vector<std::array<T, Max>> r, both;
  for (const std::vector<T>& reference : references) {
    const auto known = std::move(r), more = sorted_ngrams<Max>(reference, n);
    r = {};
    std::set_union(known.begin(), known.end(), more.begin(), more.end(), std::back_inserter(r));
  }
  std::set_intersection(h.begin(), h.end(), r.begin(), r.end(), std::back_inserter(both));
  return {static_cast<std::int64_t>(h.size()), static_cast<std::int64_t>(r.size()),
          static_cast<std::int64_t>(both.size())};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The symbols that 13a always splits off: ASCII punctuation except ' , - . (and the space).
bool is_13a_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

// Puts spaces around one of two neighbours wherever applies(first, second), then continues after
// the pair. Pairs do not overlap: in "..." the middle dot belongs to one pair only. Working on
// bytes is enough, since the bytes of a longer character are neither digits nor punctuation.
template <class Applies>
std::string split_pairs(const std::string& text, Applies applies, bool split_second) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (i + 1 < text.size() && applies(text[i], text[i + 1])) {
      const std::string first(1, text[i]), second(1, text[i + 1]);
      out += split_second ? first + " " + second + " " : " " + first + " " + second;
      i += 2;
    } else {
      out += text[i++];
    }
  }
  return out;
}

bool is_point(char c) {
  return c == '.' || c == ',';
}

// Spaces around symbols, around . and , but between digits, and after a - that follows a digit.
std::string tokenize_13a(std::string_view line) {
  std::string text = replace_all(line, "<skipped>", "");
  text = replace_all(text, "-\n", "");
  text = replace_all(text, "\n", " ");
  for (const auto& [entity, symbol] : {std::pair{"&quot;", "\""}, std::pair{"&amp;", "&"},
                                       std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}})
    text = replace_all(text, entity, symbol);
  std::string spaced;
  for (const char c : " " + text + " ")
    if (is_13a_symbol(c))
      spaced += {' ', c, ' '};
    else
      spaced += c;
  spaced = split_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_point(b); }, true);
  spaced = split_pairs(
      spaced, [](char a, char b) { return is_point(a) && !is_digit(b); }, false);
  return split_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; }, true);
}

// The words of a line as numbers; equal words of a sentence pair have equal numbers.
std::vector<int> word_numbers(const std::string& line,
                              std::unordered_map<std::string, int>& numbers) {
  std::vector<int> result;
  for (const std::string_view word : split_words(line))
    result.push_back(
        numbers.try_emplace(std::string(word), static_cast<int>(numbers.size())).first->second);
  return result;
}

constexpr int kChrfOrder = std::tuple_size_v<decltype(Chrf::counts)>;

std::vector<char32_t> characters(const std::string& line, bool spaces) {
  std::vector<char32_t> result;
  each_code_point(line, [&](CodePoint c, std::size_t) {
    if (spaces || !is_space(c.value)) result.push_back(c.value);
  });
  return result;
}

// The table of distances between their beginnings, 64 rows at a time (Myers 1999). Neighbours
// differ by 1 at most: a bit of `up` says that a row has one more than the row above it in this
// column, one of `down` that it has one less, of `more` and `less` the same of the column before.
std::int64_t distance(const std::vector<char32_t>& a, const std::vector<char32_t>& b) {
  std::unordered_map<char32_t, std::size_t> numbers;
  std::vector<std::size_t> columns;
  for (const char32_t c : b) columns.push_back(numbers.emplace(c, numbers.size()).first->second);
  std::vector<signed char> above(b.size(), 1);  // what each column of the last row has more
  for (std::size_t top = 0; top < a.size(); top += 64) {
    const std::size_t rows = std::min<std::size_t>(64, a.size() - top);
    std::vector<std::uint64_t> places(numbers.size());  // of each character in these rows
    for (std::size_t r = 0; r < rows; ++r)
      if (const auto found = numbers.find(a[top + r]); found != numbers.end())
        places[found->second] |= std::uint64_t{1} << r;
    std::uint64_t up = ~std::uint64_t{0}, down = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const bool rises = above[j] > 0, falls = above[j] < 0;
      const std::uint64_t here = places[columns[j]], equal = here | (falls ? 1 : 0),
                          same = (((equal & up) + up) ^ up) | equal;
      std::uint64_t more = down | ~(same | up), less = up & same;
      const auto last = [&](std::uint64_t bits) {
        return static_cast<int>(bits >> (rows - 1) & 1);
      };
      above[j] = static_cast<signed char>(last(more) - last(less));
      more = more << 1 | (rises ? 1 : 0);
      less = less << 1 | (falls ? 1 : 0);
      up = less | ~(here | down | more);
      down = more & (here | down);
    }
  }
  return std::accumulate(above.begin(), above.end(), std::ssize(a));
}

// BLEU counts up to four words in a row.
std::string too_few_words(std::span<const std::string> references) {
  double words = 0;
  for (const std::string& line : references) words += static_cast<double>(split_words(line).size());
  words /= static_cast<double>(references.size());
  if (words >= 4) return "";
  return fmt::format(
      "train.select_by bleu counts words between spaces, up to four in a row; the held-out targets "
      "have {:.1f} on average, which it cannot judge: --set train.select_by=chrf",
      words);
}

constexpr Metric kSelectedBy[] = {
    {"accuracy", "accuracy", "of the tokens", 4, nullptr},
    {"bleu", "BLEU", "greedy, tokenize none", 2,
     [](auto h, auto r) { return corpus_bleu(h, r, {.tokenize = "none"}).score; }, too_few_words},
    {"chrf", "chrF2", "greedy", 2, [](auto h, auto r) { return corpus_chrf(h, r).score; }},
    {"exact", "exact match", "greedy, percent", 2,
     [](auto h, auto r) { return exact_match(h, r); }},
};

}  // namespace

std::string bleu_words(std::string_view line, const std::string& tokenizer) {
  const std::string_view text = stripped(line);
  const std::string spaced = tokenizer == "13a" ? tokenize_13a(text) : std::string(text);
  const auto words = split_words(spaced);
  return joined({words.begin(), words.end()}, " ");
}

// BLEU = BP · exp(mean of log p_n),  BP = min(1, exp(1 - r/h)). The k-th order without a match gets
// p_n = 100 / (2^k · total_n). Without any match BLEU is 0.
void Bleu::rate() {
  const double h = static_cast<double>(hypothesis_length);
  const double r = static_cast<double>(reference_length);
  brevity_penalty = h >= r ? 1.0 : h > 0 ? std::exp(1 - r / h) : 0.0;
  if (correct == std::array<std::int64_t, 4>{}) return;
  double smoothing = 1, log_sum = 0;
  for (int n = 0; n < 4; ++n) {
    if (total[n] == 0) return;  // no n-grams of this order: log 0
    double matches = static_cast<double>(correct[n]);
    if (correct[n] == 0) matches = 1 / (smoothing *= 2);
    precisions[n] = 100 * matches / static_cast<double>(total[n]);
    log_sum += std::log(precisions[n]);
  }
  score = brevity_penalty * std::exp(log_sum / 4);
}

Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 const BleuOptions& options) {
  Bleu bleu;
  for (const Judged& line : judged(hypotheses, references, options.lowercase)) {
    std::unordered_map<std::string, int> numbers;
    const auto words = [&](const std::string& text) {
      return word_numbers(bleu_words(text, options.tokenize), numbers);
    };
    const std::vector<int> hypothesis = words(line.hypothesis);
    std::vector<std::vector<int>> given;
    for (const std::string& reference : line.references) given.push_back(words(reference));
    const auto closest = std::ranges::min(given, {}, [&](const std::vector<int>& reference) {
      return std::pair(std::abs(std::ssize(hypothesis) - std::ssize(reference)), reference.size());
    });
    bleu.hypothesis_length += std::ssize(hypothesis);
    bleu.reference_length += std::ssize(closest);
    for (int n = 1; n <= 4; ++n) {
      const NgramCounts counts = count_ngrams<4, int>(hypothesis, given, n);
      bleu.correct[n - 1] += counts.matches;
      bleu.total[n - 1] += counts.hypothesis;
    }
  }
  bleu.rate();
  bleu.signature = fmt::format(
      "nrefs:{}|case:{}|eff:no|tok:{}|smooth:exp|version:heed-" HEED_VERSION,
      references.size() / hypotheses.size(), options.lowercase ? "lc" : "mixed", options.tokenize);
  return bleu;
}

std::string Bleu::line() const {
  const double ratio = reference_length > 0 ? static_cast<double>(hypothesis_length) /
                                                  static_cast<double>(reference_length)
                                            : 0.0;
  return fmt::format(
      "BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} "
      "ref_len = {})",
      score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
      hypothesis_length, reference_length);
}

// (1 + b²) P R / (b² P + R), P and R the means over the orders that both sides have.
void Chrf::rate(int beta) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const NgramCounts& c : counts) {
    if (c.hypothesis == 0 || c.reference == 0) continue;
    precision += static_cast<double>(c.matches) / static_cast<double>(c.hypothesis);
    recall += static_cast<double>(c.matches) / static_cast<double>(c.reference);
    ++orders;
  }
  if (orders == 0 || precision + recall == 0) return;
  precision /= orders;
  recall /= orders;
  const double factor = static_cast<double>(beta) * beta;
  score = 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

Chrf corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                 bool lowercase, int beta) {
  Chrf chrf;
  for (const Judged& line : judged(hypotheses, references, lowercase)) {
    const auto hypothesis = characters(line.hypothesis, false);
    std::vector<Chrf> against;
    for (const std::string& text : line.references) {
      const std::array reference{characters(text, false)};
      Chrf& one = against.emplace_back();
      for (int n = 1; n <= kChrfOrder; ++n) {
        NgramCounts& c = one.counts[n - 1] =
            count_ngrams<kChrfOrder, char32_t>(hypothesis, reference, n);
        // As sacreBLEU since 2.0: an order that the reference lacks does not count.
        if (c.reference == 0) c.hypothesis = 0;
      }
      one.rate(beta);
    }
    const Chrf& best = *std::ranges::max_element(against, {}, &Chrf::score);
    for (int n = 0; n < kChrfOrder; ++n) {
      chrf.counts[n].hypothesis += best.counts[n].hypothesis;
      chrf.counts[n].reference += best.counts[n].reference;
      chrf.counts[n].matches += best.counts[n].matches;
    }
  }
  chrf.rate(beta);
  chrf.signature =
      fmt::format("nrefs:{}|case:{}|eff:yes|nc:6|nw:0|space:no|version:heed-" HEED_VERSION,
                  references.size() / hypotheses.size(), lowercase ? "lc" : "mixed");
  return chrf;
}

double character_error_rate(std::span<const std::string> hypotheses,
                            std::span<const std::string> references, bool lowercase) {
  std::int64_t errors = 0, length = 0;
  for (const Judged& line : judged(hypotheses, references, lowercase)) {
    std::vector<std::pair<std::int64_t, std::int64_t>> against;  // errors, -length
    for (const std::string& text : line.references) {
      const auto reference = characters(text, true);
      against.emplace_back(distance(characters(line.hypothesis, true), reference),
                           -std::ssize(reference));
    }
    const auto [least, minus_length] = std::ranges::min(against);
    errors += least;
    length -= minus_length;
  }
  return 100 * static_cast<double>(errors) / static_cast<double>(std::max<std::int64_t>(1, length));
}

double exact_match(std::span<const std::string> hypotheses, std::span<const std::string> references,
                   bool lowercase) {
  int exact = 0;
  for (const Judged& line : judged(hypotheses, references, lowercase))
    exact += std::ranges::count(line.references, line.hypothesis) > 0;
  return 100.0 * exact / static_cast<double>(hypotheses.size());
}

const Metric* find_metric(const std::string& name) {
  const auto found = std::ranges::find(kSelectedBy, name, [](const Metric& m) { return m.name; });
  return found == std::end(kSelectedBy) ? nullptr : &*found;
}

}  // namespace heed
