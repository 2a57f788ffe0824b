#include "base/json_object.h"

#include <gtest/gtest.h>

#include "base/error_of.h"

namespace heed {
namespace {

TEST(StrictJson, ComplaintsNameFileLineAndColumn) {
  const JsonSource source{
      .name = "f", .exit = Exit::data, .verdict = "bad: ", .hint = "h", .line = 7};
  const std::pair<std::string, Facts> cases[] = {
      {"{\"a\": 1,\n\"b\": }", {"f:8:6", "bad", "JSON", "h"}},
      {"{\"a\": 1} // no", {"f:7:10", "bad", "JSON"}},
      {"{\"a\": 1e999}", {"f:7:12", "bad", "JSON"}},
      {"{\"a\": {\"b\": 1,\n\"b\": 2}}", {"f:8", "bad", "a.b", "try: h"}},
      {std::string(17, '['), {"f:7", "bad"}},
  };
  for (const auto& [text, facts] : cases)
    expect_error([&] { parse_strict_json(text, source); }, Exit::data, facts);
  EXPECT_EQ(parse_strict_json("[{\"a\": 1}, {\"a\": 2}]", source).size(), 2u);
  EXPECT_EQ(parse_strict_json(std::string(16, '[') + std::string(16, ']'), source).size(), 1u);
}

TEST(JsonObject, MembersAreTakenOnce) {
  JsonObject object =
      JsonObject::parse(R"({"a": {"n": [1, 18446744073709551615], "t": ["x"]}})", {.name = "f"});
  JsonObject inner = object.object("a");
  object.finish();
  expect_error([&] { inner.finish(); }, Exit::store, {"f", "a.n"});
  EXPECT_EQ(inner.unsigned_numbers("n"), (std::vector<std::uint64_t>{1, 18446744073709551615u}));
  EXPECT_EQ(inner.texts("t"), std::vector<std::string>{"x"});
  inner.finish();
  expect_error([&] { inner.texts("t"); }, Exit::store, {"f", "a.t"});
}

}  // namespace
}  // namespace heed
