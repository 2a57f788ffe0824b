#include "config/field_value.h"

#include <charconv>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// A value of the field's type, or nothing.
template <class I>
std::optional<I> to_integer(const Json& v) {
  if (v.is_number_unsigned()) {
    const auto x = v.get<std::uint64_t>();
    if (std::in_range<I>(x)) return static_cast<I>(x);
  } else if (v.is_number_integer()) {
    const auto x = v.get<std::int64_t>();
    if (std::in_range<I>(x)) return static_cast<I>(x);
  } else if (v.is_number_float()) {  // 1e3 is an integer too
    const double x = v.get<double>();
    if (x == std::floor(x) && std::fabs(x) < 9e15 && std::in_range<I>(static_cast<std::int64_t>(x)))
      return static_cast<I>(x);
  }
  return std::nullopt;
}

// "1 epoch", "12 epochs"
std::optional<std::int64_t> epochs(const std::string& s) {
  std::int64_t n = 0;
  const auto [rest, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  const std::string_view unit(rest, s.data() + s.size());
  if (error != std::errc() || n < 1 || n > 1'000'000'000) return std::nullopt;
  if (unit != " epoch" && unit != " epochs") return std::nullopt;
  return n;
}

bool is_text(const Json& v) {
  return v.is_string() && v.get_ref<const std::string&>().find('\0') == std::string::npos;
}

// Stores a JSON value in a member; false if it does not fit.
struct Store {
  const Json& v;
  const Range& range;

  template <std::integral I>
  bool operator()(I* out) const {
    const std::optional<I> x = to_integer<I>(v);
    if (!x || !range.contains(static_cast<double>(*x))) return false;
    *out = *x;
    return true;
  }
  bool number(const Json& value, double* out) const {
    if (!value.is_number() || !range.contains(value.get<double>())) return false;
    *out = value.get<double>();
    return true;
  }
  bool operator()(bool* out) const {
    if (!v.is_boolean()) return false;
    *out = v.get<bool>();
    return true;
  }
  bool operator()(double* out) const { return number(v, out); }
  bool operator()(std::string* out) const {
    if (!is_text(v)) return false;
    *out = v.get<std::string>();
    return true;
  }
  bool operator()(PathList* out) const {
    PathList list;
    list.as_list = v.is_array();
    if (!v.is_array() && !is_text(v)) return false;
    for (const Json& path : v.is_array() ? v : Json::array({v})) {
      if (!is_text(path) || (v.is_array() && path.get_ref<const std::string&>().empty()))
        return false;
      if (path != "") list.paths.push_back(path.get<std::string>());
    }
    *out = std::move(list);
    return true;
  }
  bool operator()(std::array<double, 2>* out) const {
    std::array<double, 2> pair{};
    if (!v.is_array() || v.size() != 2) return false;
    if (!number(v[0], &pair[0]) || !number(v[1], &pair[1])) return false;
    *out = pair;
    return true;
  }
  bool operator()(Interval* out) const {
    if (v.is_string()) {
      const auto n = epochs(v.get_ref<const std::string&>());
      if (n) *out = {*n, true};
      return n.has_value();
    }
    const auto n = to_integer<std::int64_t>(v);
    if (!n || *n < 0 || *n > 1'000'000'000'000) return false;
    *out = {*n, false};
    return true;
  }
  bool operator()(StepOrEnd* out) const {
    StepOrEnd value(0, v == "end");
    const bool good = value.at_end || (*this)(&value.step);
    if (good) *out = value;
    return good;
  }
  bool operator()(const Choice& choice) const {
    if (!v.is_string()) return false;
    for (std::size_t i = 0; i < choice.names.size(); ++i) {
      if (v != choice.names[i]) continue;
      choice.set(static_cast<int>(i));
      return true;
    }
    return false;
  }
  bool operator()(const Field::Section&) const { return v.is_object(); }
};

struct Dump {
  OrderedJson operator()(const std::string* x) const { return *x; }
  OrderedJson operator()(const PathList* x) const {
    if (x->as_list) return x->paths;
    return x->empty() ? std::string() : x->paths.front();
  }
  OrderedJson operator()(const Interval* x) const {
    if (!x->epochs) return x->count;
    return counted(std::to_string(x->count), "epoch");
  }
  OrderedJson operator()(const StepOrEnd* x) const {
    return x->at_end ? OrderedJson("end") : OrderedJson(x->step);
  }
  OrderedJson operator()(const Choice& x) const { return x.names[x.get()]; }
  OrderedJson operator()(const Field::Section&) const { return OrderedJson::object(); }
  template <class T>
  OrderedJson operator()(const T* x) const {
    return *x;
  }
};

}  // namespace

bool store_value(const Field& field, const Json& value) {
  return std::visit(Store{value, field.range}, field.ref);
}

void copy_value(const Field& from, const Field& to) {
  const auto copy = [&]<class Ref>(const Ref& ref) {
    if constexpr (std::is_pointer_v<Ref>)
      *std::get<Ref>(to.ref) = *ref;
    else if constexpr (std::is_same_v<Ref, Choice>)
      std::get<Choice>(to.ref).set(ref.get());
  };
  std::visit(copy, from.ref);
}

OrderedJson dump_value(const Field& field) {
  return std::visit(Dump{}, field.ref);
}

}  // namespace heed
