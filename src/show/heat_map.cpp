#include "show/heat_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/format.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "show/head_words.h"
#include "text/piece_model.h"

namespace heed {
namespace {

constexpr string_view kShades = " .:-=+*#%@";
// From dark blue over teal to yellow, getting lighter, in the xterm palette.
constexpr array kColours = {17, 18, 24, 25, 31, 37, 36, 71, 113, 184, 226};
constexpr size_t kFirstLight = 5;  // black letters from here on
constexpr int kBlack = 16, kWhite = 231;
// From black to red for what is below 0, to green for what is above.
constexpr array kBelow = {16, 52, 88, 124, 160, 196}, kAbove = {16, 22, 28, 34, 40, 46};

// A name in exactly `width` columns, cut or padded.
string fitted(const string& name, int width) {
  const string text = shortened(name, width);
  return text + string(width - columns_of(text), ' ');
}

vector<string> with_space_marks(span<const string> tokens) {
  return mapped(tokens, heed::with_space_marks);
}

int longest(span<const string> names) {
  int columns = 0;
  for (const string& name : names) columns = max(columns, columns_of(name));
  return columns;
}

size_t step_of(float weight, size_t steps) {
  return min(steps - 1, size_t(clamp(weight, 0.0f, 1.0f) * float(steps)));
}

string coloured(int background, int letters, const string& text) {
  return fmt::format("\x1b[48;5;{};38;5;{}m{}\x1b[0m", background, letters, text);
}

string coloured(size_t step, const string& text) {
  return coloured(kColours[step], step >= kFirstLight ? kBlack : kWhite, text);
}

string signed_cell(float share, int width, bool colour) {
  const int tenths = clamp(int(std::lround(10 * share)), -9, 9);
  const string text = fmt::format("{:>{}} ", tenths == 0 ? "." : to_string(tenths), width - 1);
  const auto& colours = tenths < 0 ? kBelow : kAbove;
  return colour ? coloured(colours[(abs(tenths) + 1) / 2], kWhite, text) : text;
}

string cell(float weight, int width, bool colour) {
  if (!colour) return string(width - 1, kShades[step_of(weight, kShades.size())]) + " ";
  const int percent = int(100.0f * weight + 0.5f);
  const string text = width > 2 && percent > 0 ? to_string(percent) : "";
  return coloured(step_of(weight, kColours.size()), fmt::format("{:>{}}", text, width));
}

constexpr int kShownTokens = 16;  // rows and keys of a map

constexpr const char* kAboutHeads =
    "each head in this text: its pattern and the weight on it, or, without one, the "
    "largest weight of a row; in parentheses: if the weight were spread evenly\n";

// The keys with the largest weights in these rows, in their order in the text.
vector<int> strongest_keys(Mat<const float> rows) {
  vector<float> largest(rows.cols);
  for (int q = 0; q < rows.rows; ++q)
    for (int k = 0; k < rows.cols; ++k) largest[k] = max(largest[k], abs(rows(q, k)));
  vector<int> keys(rows.cols);
  std::iota(keys.begin(), keys.end(), 0);
  ranges::stable_sort(keys, [&](int a, int b) { return largest[a] > largest[b]; });
  keys.resize(min(rows.cols, kShownTokens));
  ranges::sort(keys);
  return keys;
}

// One line that explains the colours or shades.
string heat_map_legend(const HeatMapStyle& style) {
  if (style.largest != 0)
    return fmt::format(
        "tenths of {:.2g} (9 at most): above 0 the score should grow, below 0 shrink\n",
        style.largest);
  string scale;
  if (style.colour)
    for (size_t step = 0; step < kColours.size(); ++step) scale += coloured(step, "  ");
  else
    scale = "\"" + string(kShades) + "\"";
  return fmt::format("weight 0 {} 1; a row looks at columns\n", scale);
}

string draw_part(Mat<const float> map, span<const string> queries, span<const string> keys,
                 const HeatMapStyle& style) {
  const int first = max(0, map.rows - kShownTokens);
  const Mat<const float> rows = map.row_range(first, map.rows);
  const vector<int> kept = strongest_keys(rows);
  vector<float> weights;
  for (int q = 0; q < rows.rows; ++q)
    for (const int k : kept) weights.push_back(rows(q, k));
  const auto names = mapped(kept, [&](int k) { return keys[k]; });
  const int shown = int(kept.size());
  const string note = fmt::format("(the last {} of {} rows, the {} strongest of {} keys)\n",
                                  rows.rows, map.rows, shown, map.cols);
  return draw_heat_map({weights.data(), rows.rows, shown}, queries.subspan(first), names, style) +
         (first > 0 || shown < map.cols ? note : "");
}

}  // namespace

string draw_heat_map(Mat<const float> weights, span<const string> queries, span<const string> keys,
                     const HeatMapStyle& style) {
  const vector<string> rows = with_space_marks(queries);
  vector<string> names = with_space_marks(keys);
  const int least = style.largest != 0 || longest(names) > 1 ? 3 : 2,
            label = clamp(longest(rows), 1, style.columns / 4), room = style.columns - label - 1;
  const auto width = [&](const string& name) {
    return clamp(columns_of(name) + 1, least, style.columns / 2);
  };
  int in_words = 0;
  for (const string& name : names) in_words += width(name);
  string out;
  if (in_words > room && in_words > ssize(names) * width(to_string(names.size() - 1))) {
    out = "columns:";
    for (size_t i = 0; i < names.size(); ++i) {
      out += fmt::format("  {}\u00a0{}", i, names[i]);
      names[i] = fmt::format("{:2}", i);
    }
    out = wrapped(out, style.columns, "  ") + "\n";
  }
  for (int begin = 0, end = 0; begin < weights.cols; begin = end) {
    if (begin > 0) out += "\n";
    out += string(label + 1, ' ');
    for (int used = 0; end < weights.cols && (used += width(names[end])) <= room; ++end)
      out += fitted(names[end], width(names[end]) - 1) + " ";
    out += "\n";
    for (int q = 0; q < weights.rows; ++q) {
      out += fitted(rows[q], label) + " ";
      for (int k = begin; k < end; ++k)
        out +=
            (style.largest != 0 ? signed_cell : cell)(weights(q, k), width(names[k]), style.colour);
      out += "\n";
    }
  }
  return out;
}

string name_of_head(AttentionKind kind, int layer, int head) {
  return fmt::format("{}, layer {}, head {}", attention_name(kind), layer, head);
}

string draw_heads(const HeadChoice& choice, const vector<DrawnHead>& heads, ptrdiff_t clearest,
                  const InputTokens& tokens, HeatMapStyle style) {
  const auto line = [&](const DrawnHead& h) { return wrapped(h.line, style.columns, "  "); };
  const auto map = [&](const DrawnHead& h, auto&& drawing) {
    const auto &queries = queries_of(tokens, h.kind), &keys = keys_of(tokens, h.kind);
    style.largest = h.largest;
    return heat_map_legend(style) +
           drawing({h.numbers.data(), int(queries.size()), int(keys.size())}, queries, keys, style);
  };
  string out;
  for (const DrawnHead& h : heads)
    out += choice.any() ? "\n" + line(h) + map(h, draw_heat_map) : line(h);
  if (choice.any()) return out;
  return out + "\nthe map of one:\n" + line(heads[clearest]) + map(heads[clearest], draw_part);
}

string draw_attention(const HeadChoice& choice, const InputTokens& tokens,
                      const AttentionMaps& maps, const HeatMapStyle& style) {
  const vector<HeadInWords> heads = heads_in_words(tokens, maps, choice);
  vector<DrawnHead> drawn;
  for (const HeadInWords& h : heads) {
    const Mat<const float> weights = maps[size_t(h.kind)].head(h.layer, h.head);
    // "cross, layer 1, head 0: mostly the mirrored position, 85 % (17 %)"
    const string line = fmt::format(
        "{}: {}{}\n", name_of_head(h.kind, h.layer, h.head), h.pattern,
        h.share == 0 ? "" : fmt::format(", {:.0f} % ({:.0f} %)", 100 * h.share, 100 * h.uniform));
    drawn.push_back({line, h.kind, {weights.row(0), weights.row(weights.rows)}});
  }
  return wrapped(kAboutHeads, style.columns, "  ") +
         draw_heads(choice, drawn, &clearest_head(heads) - heads.data(), tokens, style);
}

}  // namespace heed
