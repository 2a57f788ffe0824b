
#include <fmt/core.h>

#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "config/fields_json.h"

namespace heed {
namespace {

string number_text(double x) {
  if (std::fabs(x) < 1e15 && x == std::floor(x)) return fmt::format("{:.0f}", x);
  return Json(x).dump();
}

// "an integer from 0 to 8", "a number greater than 0 and of at most 1"
string in_range(const string& what, const Range& r) {
  const string min = number_text(r.min), max = number_text(r.max);
  return r.open_min ? fmt::format("{} greater than {} and of at most {}", what, min, max)
                    : fmt::format("{} from {} to {}{}", what, min, r.open_max ? "below " : "", max);
}

Json object_schema(const vector<Field>& fields);

// The values that a field takes, in words and as a JSON Schema.
struct Values {
  string words;
  Json schema;
};

struct Describe {
  const Range& range;
  Values operator()(const bool*) const { return {"true or false", {{"type", "boolean"}}}; }
  template <integral T>
  Values operator()(const T*) const {
    return number("integer");
  }
  Values operator()(const uint64_t*) const {
    return {"an integer from 0 to 18446744073709551615",
            {{"type", "integer"}, {"minimum", 0}, {"maximum", UINT64_MAX}}};
  }
  Values operator()(const double*) const { return number("number"); }
  Values operator()(const string*) const { return {"a string", {{"type", "string"}}}; }
  Values operator()(const PathList*) const {
    const Json path = {{"type", "string"}};
    const Json list = {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}};
    return {"a path or a list of paths", {{"anyOf", Json::array({path, list})}}};
  }
  Values operator()(const array<double, 2>*) const {
    const Values each = number("number");
    return {"a list of two numbers, each " + each.words.substr(9),
            {{"type", "array"}, {"items", each.schema}, {"minItems", 2}, {"maxItems", 2}}};
  }
  Values operator()(const Interval*) const {
    const Json steps = {{"type", "integer"}, {"minimum", 0}, {"maximum", 1'000'000'000'000}};
    const Json epochs = {{"type", "string"}, {"pattern", "^0*[1-9][0-9]{0,8} epochs?$"}};
    return {"a number of steps or \"N epochs\"", {{"anyOf", Json::array({steps, epochs})}}};
  }
  Values operator()(const StepOrEnd*) const {
    const Values step = number("integer");
    return {step.words + " or \"end\"",
            {{"anyOf", Json::array({step.schema, {{"const", "end"}}})}}};
  }
  Values operator()(const Choice& c) const {
    return {"one of " + joined(c.names), {{"enum", mapped(c.names, value_named)}}};
  }
  Values operator()(const Field::Section& s) const {
    return {"a section (an object)", object_schema(s)};
  }

 private:
  Values number(const string& type) const {
    const auto bound = [](double x) { return Json::parse(number_text(x)); };
    return {in_range((type == "integer" ? "an " : "a ") + type, range),
            {{"type", type},
             {range.open_min ? "exclusiveMinimum" : "minimum", bound(range.min)},
             {range.open_max ? "exclusiveMaximum" : "maximum", bound(range.max)}}};
  }
};

Values values_of(const Field& field) {
  return std::visit(Describe{field.range}, field.ref);
}

Json object_schema(const vector<Field>& fields) {
  Json properties = Json::object();
  for (const Field& field : fields) {
    Json& out = properties[field.key] = values_of(field).schema;
    out["description"] = meaning(field);
    if (!field.default_note.empty())
      out["description"] = fmt::format("{} (default: {})", meaning(field), field.default_note);
    else if (!section_of(field))
      out["default"] = dump_value(field);
  }
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

// Escapes the text of a markdown table cell.
string cell(const string& s) {
  return replace_all(s, "|", "\\|");
}

}  // namespace

string expected_values(const Field& field) {
  return values_of(field).words;
}

Json fields_schema(const vector<Field>& fields) {
  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "A heed config"}};
  out.update(object_schema(fields));
  return out;
}

string fields_markdown(const vector<Field>& fields) {
  string out = "| key | values | default | meaning |\n|---|---|---|---|\n";
  for (const Leaf& leaf : leaves(fields)) {
    const Json value = dump_value(leaf.field);
    const string standard = !leaf.field.default_note.empty() ? leaf.field.default_note
                            : value == ""                    ? "none"
                                                             : "`" + value.dump() + "`";
    out += fmt::format("| `{}` | {} | {} | {} |\n", leaf.key, cell(expected_values(leaf.field)),
                       cell(standard), cell(meaning(leaf.field)));
  }
  return out;
}

}  // namespace heed
