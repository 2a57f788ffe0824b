#include "base/json.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error_of.h"
#include "base/fields.h"

namespace heed {

struct Inner {
  std::uint64_t n = 7;
  std::optional<std::string> t;
};
void fields(Inner& i, auto visit) {
  visit("n", i.n, "t", i.t);
}
struct Outer {
  static constexpr const char* kKind = "outer";
  std::vector<Inner> list;
  ByName<Inner> in_order;
  std::map<std::string, double> sorted;
};
void fields(Outer& o, auto visit) {
  visit("list", o.list, "in_order", o.in_order, "sorted", o.sorted);
}

namespace {

TEST(StrictJson, ComplaintsNameFileLineAndColumn) {
  const JsonSource source{.name = "f", .exit = Exit::data, .verdict = "bad: ", .hint = "h"};
  const std::pair<std::string, Facts> cases[] = {
      {"{\"a\": 1,\n\"b\": }", {"f:2:6", "bad", "JSON", "h"}},
      {"{\"a\": 1} // no", {"f:1:10", "bad", "JSON"}},
      {"{\"a\": 1e999}", {"f:1:12", "bad", "JSON"}},
      {"{\"a\": {\"b\": 1,\n\"b\": 2}}", {"f:2", "bad", "a.b", "try: h"}},
      {std::string(17, '['), {"f:1", "bad"}},
  };
  for (const auto& [text, facts] : cases)
    expect_error([&] { parse_strict_json(text, source); }, Exit::data, facts);
  EXPECT_EQ(parse_strict_json("[{\"a\": 1}, {\"a\": 2}]", source).size(), 2u);
  EXPECT_EQ(parse_strict_json(std::string(16, '[') + std::string(16, ']'), source).size(), 1u);
}

TEST(Fields, AreReadAsTheyAreWritten) {
  const std::string text = R"({"kind":"outer","list":[{"n":18446744073709551615}],)"
                           R"("in_order":{"z":{"n":1,"t":"x"},"a":{"n":2}},"sorted":{"b":0.5}})";
  Outer read;
  Faults faults;
  EXPECT_TRUE(read_json(Json::parse(text), read, faults));
  EXPECT_EQ(faults.first(), "");
  EXPECT_EQ(text_of(read), text);
}

TEST(Fields, FaultsNameTheKey) {
  const auto faults_of = [](const char* text) {
    Outer read;
    Faults faults;
    read_json(Json::parse(text), read, faults);
    return faults.first();
  };
  expect_facts(faults_of("[]"), {"object", "[]"});
  expect_facts(faults_of("{}"), {"list", "missing"});
  expect_facts(faults_of(R"({"list": 3, "in_order": {}, "sorted": {}})"), {"list", "3"});
  expect_facts(faults_of(R"({"list": [], "in_order": {"z": {"n": -1}}, "sorted": {}})"),
               {"in_order.z.n", "whole number", "-1"});
  expect_facts(faults_of(R"({"list": [{"n": 1, "u": 2}], "in_order": {}, "sorted": {}})"),
               {"list.u", "unknown"});
}

}  // namespace
}  // namespace heed
