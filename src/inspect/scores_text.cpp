#include "inspect/scores_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

// In 22 columns.
std::string figure(const Estimate& e) {
  if (!e.interval) return fmt::format("{:<22.3f}", e.value);
  const std::string range = fmt::format("[{:.3f}, {:.3f}]", e.interval->low, e.interval->high);
  return fmt::format("{:<22}", fmt::format("{:.3f} {}", e.value, range));
}

// Adds the number of links if the figures are not about all of them.
std::string row(const KindScores& k, const std::string& head, const char* weights, const Score& s) {
  std::string text = fmt::format("{:12}{:11}", head, weights);
  if (s.links == 0) return text + "nothing to score\n";
  text += figure(s.mass) + figure(s.accuracy) + figure(s.aer);
  if (k.mentions) text += figure(s.any_mass) + figure(s.any_accuracy);
  if (s.links != k.links) text += fmt::format("{} links", s.links);
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

constexpr const char* kMeaning =
    "Heads are sorted by the mass of their weights that lies on gold. argmax is gold: how often\n"
    "the largest weight does. AER: alignment error rate, the share of wrong links; 0 is best, 1\n"
    "worst.\n"
    "untrained: the same head before training. shuffled: scored against the gold of other places.\n"
    "A head has learnt the links if it is far above all three of uniform, untrained, shuffled.\n";
constexpr std::size_t kShownHeads = 12;  // of one kind

// The heads with the most mass on gold, best first.
std::vector<HeadScore> best_heads(const KindScores& k) {
  std::vector<HeadScore> heads = k.heads;
  std::ranges::stable_sort(heads, std::greater(),
                           [](const HeadScore& h) { return h.trained.mass.value; });
  heads.resize(std::min(heads.size(), kShownHeads));
  return heads;
}

Json json_of(const Estimate& e) {
  if (!e.interval) return {{"value", e.value}, {"low", nullptr}, {"high", nullptr}};
  return {{"value", e.value}, {"low", e.interval->low}, {"high", e.interval->high}};
}

Json json_of(const KindScores& k, const Score& s) {
  Json json{{"links", s.links}};
  if (s.links == 0) return json;
  json["mass"] = json_of(s.mass);
  json["accuracy"] = json_of(s.accuracy);
  json["aer"] = json_of(s.aer);
  if (!k.mentions) return json;
  json["any_mass"] = json_of(s.any_mass);
  json["any_accuracy"] = json_of(s.any_accuracy);
  return json;
}

}  // namespace

std::string scores_table(const std::vector<KindScores>& scores) {
  std::string text;
  for (const KindScores& k : scores) {
    text += fmt::format("{} attention: {} links of {} {}{}\n", attention_name(k.kind),
                        format_count(static_cast<std::int64_t>(k.links)),
                        format_count(static_cast<std::int64_t>(k.groups)), k.group_name,
                        k.uniform.mass.interval ? ", 95 % intervals" : "");
    if (k.mentions)
      text += "gold is the nearest noun of the referent; \"any\" counts its earlier mentions too\n";
    for (const std::string& note : k.notes) text += "note: " + note + "\n";
    text += "layer head  weights    mass on gold          argmax is gold        AER";
    text += k.mentions ? "                   mass on any           argmax is any\n" : "\n";
    text += row(k, "any   any", "uniform", k.uniform);
    const std::vector<HeadScore> best = best_heads(k);
    for (const HeadScore& h : best) {
      text += row(k, fmt::format("{:<6}{}", h.layer, h.head), "trained", h.trained);
      text += row(k, "", "untrained", h.untrained);
      text += row(k, "", "shuffled", h.shuffled);
    }
    if (best.size() < k.heads.size())
      text += fmt::format("{} more heads: --json\n", k.heads.size() - best.size());
    const auto lucky = std::ranges::max_element(
        k.heads, {}, [](const HeadScore& h) { return h.untrained.mass.value; });
    text += fmt::format(
        "most mass on gold: layer {}, head {} with {:.3f}; the best untrained head has {:.3f}, "
        "uniform attention {:.3f}\n\n",
        best[0].layer, best[0].head, best[0].trained.mass.value, lucky->untrained.mass.value,
        k.uniform.mass.value);
  }
  return text + kMeaning;
}

std::string scores_json(const std::vector<KindScores>& scores) {
  Json kinds = Json::array();
  for (const KindScores& k : scores) {
    Json heads = Json::array();
    for (const HeadScore& h : k.heads)
      heads.push_back({{"layer", h.layer},
                       {"head", h.head},
                       {"trained", json_of(k, h.trained)},
                       {"untrained", json_of(k, h.untrained)},
                       {"shuffled", json_of(k, h.shuffled)}});
    kinds.push_back({{"kind", attention_name(k.kind)},
                     {"links", k.links},
                     {"groups", k.groups},
                     {"group", k.group_name},
                     {"uniform", json_of(k, k.uniform)},
                     {"heads", heads},
                     {"notes", k.notes}});
  }
  return Json{{"kinds", kinds}}.dump() + "\n";
}

}  // namespace heed
