#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "inspect/attention_scores.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string shown(const Estimate& e) {
  std::string text = format_fixed(e.value, 3);
  if (e.interval)
    text +=
        " [" + format_fixed(e.interval->low, 3) + ", " + format_fixed(e.interval->high, 3) + "]";
  return padded(text, 22);
}

// Says of how many links the figures are, if not of all.
std::string row(const KindScores& k, const std::string& place, const std::string& name,
                const Score& s) {
  std::string text = padded(place, 12) + padded(name, 11);
  if (s.links == 0) return text + "nothing to score\n";
  text += shown(s.mass) + shown(s.accuracy) + shown(s.aer);
  if (k.mentions) text += shown(s.any_mass) + shown(s.any_accuracy);
  if (s.links != k.links) text += std::to_string(s.links) + " links";
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

std::string place(const HeadScore& h) {
  return std::to_string(h.layer) + "     " + std::to_string(h.head);
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
    if (!text.empty()) text += "\n";
    text += std::string(attention_name(k.kind)) +
            " attention: " + format_count(static_cast<std::int64_t>(k.links)) + " links of " +
            format_count(static_cast<std::int64_t>(k.groups)) + " " + k.group_name +
            ", 95 % intervals\n";
    if (k.mentions)
      text += "gold is the nearest noun of the referent; \"any\" counts its earlier mentions too\n";
    for (const std::string& note : k.notes) text += "note: " + note + "\n";
    text += "layer head  weights    mass on gold          argmax is gold        AER";
    text += k.mentions ? "                   mass on any           argmax is any\n" : "\n";
    text += row(k, "any   any", "uniform", k.uniform);
    for (const HeadScore& h : k.heads) {
      text += row(k, place(h), "trained", h.trained);
      text += row(k, "", "untrained", h.untrained);
      text += row(k, "", "shuffled", h.shuffled);
    }
    const auto by = [](Score HeadScore::*which) {
      return [which](const HeadScore& a, const HeadScore& b) {
        return (a.*which).mass.value < (b.*which).mass.value;
      };
    };
    const auto best = std::max_element(k.heads.begin(), k.heads.end(), by(&HeadScore::trained));
    const auto lucky = std::max_element(k.heads.begin(), k.heads.end(), by(&HeadScore::untrained));
    text += "most mass on gold: layer " + std::to_string(best->layer) + ", head " +
            std::to_string(best->head) + " with " + format_fixed(best->trained.mass.value, 3) +
            "; the best untrained head has " + format_fixed(lucky->untrained.mass.value, 3) +
            ", uniform attention " + format_fixed(k.uniform.mass.value, 3) + "\n";
  }
  return text;
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
