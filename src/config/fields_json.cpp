#include "config/fields_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_object.h"
#include "base/nearest.h"
#include "config/field_value.h"
#include "config/fields_doc.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

std::vector<std::string> keys_of(const std::vector<Leaf>& fields) {
  std::vector<std::string> keys;
  for (const Leaf& field : fields) keys.push_back(field.key);
  return keys;
}

// The end of the message about an unknown key. Its likely meaning is the same key in another
// section, a name from another program, or a similar key.
std::string meant(const std::vector<Field>& root, const std::vector<Field>& section,
                  const std::string& prefix, const std::string& key) {
  const std::vector<std::string> all = keys_of(fields_and_sections(root));
  for (const std::string& full : all)
    if (full == key || full.ends_with("." + key)) return did_you_mean(full);
  if (const auto word = find_trade_word("key", key)) return heed_calls_it(*word);
  std::vector<std::string> here;
  for (const Field& field : section) here.push_back(field.key);
  const std::string near = nearest(key, here);
  return did_you_mean(near.empty() ? nearest(prefix + key, all) : prefix + near);
}

struct Reader {
  const JsonText& text;
  const std::vector<Field>& root;
  Places given = {};

  void section(const Json& object, const std::vector<Field>& fields, const std::string& prefix) {
    for (const auto& [key, value] : object.items()) {
      const Field* field = nullptr;
      for (const Field& f : fields)
        if (f.key == key) field = &f;
      if (!field) unknown(fields, prefix, key);
      const std::string full = prefix + key;
      if (!store_value(*field, value)) mismatch(*field, full, value);
      given[full] = text.where(full);
      if (const auto* inner = section_of(*field)) section(value, *inner, full + ".");
    }
  }

  [[noreturn]] void unknown(const std::vector<Field>& fields, const std::string& prefix,
                            const std::string& key) const {
    const std::string full = prefix + key;
    const std::string end = meant(root, fields, prefix, key);
    throw Error(Exit::usage,
                fmt::format("{}: unknown key {}{}", text.where(full), shown(full), end),
                end == "." ? "heed config --docs lists all keys" : "");
  }
  [[noreturn]] void mismatch(const Field& field, const std::string& full, const Json& value) const {
    std::string what = fmt::format("{}: {} must be {}; found {}", text.where(full), full,
                                   expected_values(field), shown(value));
    if (const auto* choice = std::get_if<Choice>(&field.ref); choice && value.is_string())
      what += did_you_mean(nearest(value.get<std::string>(), choice->names));
    throw Error(Exit::usage, what);
  }
};

// {"a": {"b": value}} for a.b
Json nested(const std::string& full, const Json& value) {
  const std::size_t dot = full.find('.');
  Json out;
  out[full.substr(0, dot)] = dot == std::string::npos ? value : nested(full.substr(dot + 1), value);
  return out;
}

Json set_value(const std::string& written, const std::string& place) {
  try {
    return std::move(parse_json(written, place).json);
  } catch (const Error&) {
    Json text = written;
    try {
      text.dump();  // throws on invalid UTF-8
    } catch (const Json::exception&) {
      throw Error(Exit::usage, place + ": the value is not valid UTF-8, as a config must be.",
                  "if it names a file: rename the file, or make a link to it");
    }
    return text;
  }
}

}  // namespace

Places read_fields(const JsonText& text, const std::vector<Field>& fields) {
  if (!text.json.is_object())
    throw Error(Exit::usage, fmt::format("{}: expected a JSON object; found {}.", text.source,
                                         shown(text.json)));
  Reader reader{text, fields};
  reader.section(text.json, fields, "");
  return std::move(reader.given);
}

void apply_set(JsonText& text, const std::vector<Field>& fields, const std::string& set) {
  const std::size_t equals = set.find('=');
  const std::string key = set.substr(0, equals);
  const std::string place = "--set " + shown(set);
  if (equals == std::string::npos || key.empty() || key.size() > 256)
    throw Error(Exit::usage, place + ": expected KEY=VALUE, as in --set train.max_steps=100.");
  if (!text.json.is_object()) return;  // read_fields() will report it
  const Json patch = nested(key, set_value(set.substr(equals + 1), place));

  if (std::ranges::count(keys_of(fields_and_sections(fields)), key) == 0)
    read_fields(JsonText{nested(key, 0), place}, fields);  // throws: the key is unknown
  text.places[key] = place;
  const Json flat = patch.flatten();
  for (const auto& [pointer, value] : flat.items()) {  // "/model/d_ff"
    std::string full = pointer.substr(1);
    std::replace(full.begin(), full.end(), '/', '.');
    text.places[full] = place;
  }
  text.json.merge_patch(patch);
}

void check_applicable(const std::vector<Field>& fields, const Places& given) {
  for (const Leaf& leaf : leaves(fields)) {
    if (leaf.field->rejected_by.empty() || !given.contains(leaf.key)) continue;
    throw Error(Exit::usage,
                fmt::format("{}: {} has no meaning here, because {}.", given.at(leaf.key), leaf.key,
                            leaf.field->rejected_by),
                fmt::format("leave the key out, or --set {}=null", leaf.key));
  }
}

void copy_fields(const std::vector<Field>& from, const std::vector<Field>& to,
                 const std::function<bool(const std::string& key)>& copies) {
  const std::vector<Leaf> a = leaves(from), b = leaves(to);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (copies(a[i].key)) store_value(*b[i].field, Json(dump_value(*a[i].field)));
}

OrderedJson dump_fields(const std::vector<Field>& fields) {
  OrderedJson out = OrderedJson::object();
  for (const Field& field : fields) {
    if (!field.rejected_by.empty()) continue;
    const auto* section = section_of(field);
    out[field.key] = section ? dump_fields(*section) : dump_value(field);
  }
  return out;
}

std::vector<KeyChange> changed_fields(const std::vector<Field>& before,
                                      const std::vector<Field>& after) {
  const auto value = [](const Field& field) {
    return field.rejected_by.empty() ? dump_value(field).dump() : std::string();
  };
  std::vector<KeyChange> out;
  const std::vector<Leaf> a = leaves(before), b = leaves(after);
  for (std::size_t i = 0; i < a.size(); ++i) {
    KeyChange change{a[i].key, value(*a[i].field), value(*b[i].field), a[i].field->on_resume};
    if (change.before != change.after) out.push_back(std::move(change));
  }
  return out;
}

}  // namespace heed
