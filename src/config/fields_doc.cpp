#include "config/fields_doc.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "config/field_value.h"

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string number_text(double x) {
  if (std::fabs(x) < 1e15 && x == std::floor(x)) return fmt::format("{:.0f}", x);
  return OrderedJson(x).dump();
}

// "an integer from 0 to 8", "a number greater than 0"
std::string in_range(const std::string& what, const Range& r) {
  const bool low = std::isfinite(r.min), high = std::isfinite(r.max);
  std::string out = what;
  if (low && high && !r.open_min)
    return fmt::format("{} from {} to {}{}", what, number_text(r.min), r.open_max ? "below " : "",
                       number_text(r.max));
  if (low) out += (r.open_min ? " greater than " : " of at least ") + number_text(r.min);
  if (high)
    out += (low ? " and" : "") + std::string(r.open_max ? " less than " : " of at most ") +
           number_text(r.max);
  return out;
}

struct Expected {
  const Range& range;
  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const int*) const { return in_range("an integer", range); }
  std::string operator()(const std::int64_t*) const { return in_range("an integer", range); }
  std::string operator()(const std::uint64_t*) const {
    return "an integer from 0 to 18446744073709551615";
  }
  std::string operator()(const double*) const { return in_range("a number", range); }
  std::string operator()(const std::string*) const { return "a string"; }
  std::string operator()(const PathList*) const { return "a path or a list of paths"; }
  std::string operator()(const std::array<double, 2>*) const {
    return "a list of two numbers, each " + in_range("a number", range).substr(9);
  }
  std::string operator()(const Interval*) const { return "a number of steps or \"N epochs\""; }
  std::string operator()(const Choice& c) const { return "one of " + joined(c.names); }
  std::string operator()(const Field::Section&) const { return "a section (an object)"; }
};

void add_range(OrderedJson& schema, const Range& r) {
  const auto bound = [](double x) {
    return x == std::floor(x) ? OrderedJson(std::llround(x)) : OrderedJson(x);
  };
  if (std::isfinite(r.min)) schema[r.open_min ? "exclusiveMinimum" : "minimum"] = bound(r.min);
  if (std::isfinite(r.max)) schema[r.open_max ? "exclusiveMaximum" : "maximum"] = bound(r.max);
}

OrderedJson object_schema(const std::vector<Field>& fields);

struct Schema {
  const Range& range;
  OrderedJson operator()(const bool*) const { return {{"type", "boolean"}}; }
  OrderedJson operator()(const int*) const { return number("integer"); }
  OrderedJson operator()(const std::int64_t*) const { return number("integer"); }
  OrderedJson operator()(const std::uint64_t*) const {
    return {{"type", "integer"}, {"minimum", 0}, {"maximum", UINT64_MAX}};
  }
  OrderedJson operator()(const double*) const { return number("number"); }
  OrderedJson operator()(const std::string*) const { return {{"type", "string"}}; }
  OrderedJson operator()(const PathList*) const {
    const OrderedJson path = {{"type", "string"}};
    const OrderedJson list = {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}};
    return {{"anyOf", OrderedJson::array({path, list})}};
  }
  OrderedJson operator()(const std::array<double, 2>*) const {
    return {{"type", "array"}, {"items", number("number")}, {"minItems", 2}, {"maxItems", 2}};
  }
  OrderedJson operator()(const Interval*) const {
    const OrderedJson steps = {{"type", "integer"}, {"minimum", 0}, {"maximum", 1'000'000'000'000}};
    const OrderedJson epochs = {{"type", "string"}, {"pattern", "^0*[1-9][0-9]{0,8} epochs?$"}};
    return {{"anyOf", OrderedJson::array({steps, epochs})}};
  }
  OrderedJson operator()(const Choice& c) const { return {{"type", "string"}, {"enum", c.names}}; }
  OrderedJson operator()(const Field::Section& s) const { return object_schema(s); }

 private:
  OrderedJson number(const char* type) const {
    OrderedJson out = {{"type", type}};
    add_range(out, range);
    return out;
  }
};

OrderedJson object_schema(const std::vector<Field>& fields) {
  OrderedJson properties = OrderedJson::object();
  for (const Field& field : fields) {
    OrderedJson& out = properties[field.key] = std::visit(Schema{field.range}, field.ref);
    out["description"] = field.doc;
    if (!field.default_note.empty())
      out["description"] = fmt::format("{} (default: {})", field.doc, field.default_note);
    else if (!section_of(field))
      out["default"] = dump_value(field);
  }
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

// Escapes the text of a markdown table cell.
std::string cell(const std::string& s) {
  std::string out;
  for (const char ch : s) out += ch == '|' ? std::string("\\|") : std::string(1, ch);
  return out;
}

}  // namespace

std::string expected_values(const Field& field) {
  return std::visit(Expected{field.range}, field.ref);
}

OrderedJson fields_schema(const std::vector<Field>& fields, const std::string& title) {
  OrderedJson out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  out.update(object_schema(fields));
  return out;
}

std::string fields_markdown(const std::vector<Field>& fields) {
  std::string out = "| key | values | default | meaning |\n|---|---|---|---|\n";
  for (const Leaf& leaf : leaves(fields)) {
    const OrderedJson value = dump_value(*leaf.field);
    const std::string standard = !leaf.field->default_note.empty() ? leaf.field->default_note
                                 : value == ""                     ? "none"
                                                                   : "`" + value.dump() + "`";
    out += fmt::format("| `{}` | {} | {} | {} |\n", leaf.key, cell(expected_values(*leaf.field)),
                       cell(standard), cell(leaf.field->doc));
  }
  return out;
}

OrderedJson fields_list(const std::vector<Field>& fields) {
  OrderedJson keys = OrderedJson::array();
  for (const Leaf& leaf : leaves(fields)) {
    const Field& field = *leaf.field;
    OrderedJson out = {{"key", leaf.key},
                       {"values", expected_values(field)},
                       {"default", field.default_note.empty() ? dump_value(field) : nullptr}};
    if (!field.default_note.empty()) out["default_note"] = field.default_note;
    out["doc"] = field.doc;
    out["on_resume"] = field.on_resume == OnResume::allowed;
    out.update(std::visit(Schema{field.range}, field.ref));
    keys.push_back(std::move(out));
  }
  return {{"keys", keys}};
}

}  // namespace heed
