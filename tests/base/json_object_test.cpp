#include "base/json_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_of.h"

namespace heed {
namespace {

using testing::StartsWith;

TEST(StrictJson, ComplaintsNameFileLineAndColumn) {
  const JsonSource source{
      .name = "f", .exit = Exit::data, .verdict = "bad: ", .hint = "h", .line = 7};
  const std::pair<std::string, std::string> cases[] = {
      {"{\"a\": 1,\n\"b\": }", "f:8:6: bad: this is not JSON: "},
      {"{\"a\": 1} // no", "f:7:10: bad: this is not JSON: "},
      {"{\"a\": 1e999}", "f:7:12: bad: this is not JSON: number overflow"},
      {"{\"a\": {\"b\": 1,\n\"b\": 2}}", "f:8: bad: the key \"a.b\" occurs twice.\n  try: h"},
      {std::string(17, '['), "f:7: bad: this is nested too deeply."},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT(error_of([&] { parse_strict_json(text, source); }, Exit::data),
                StartsWith(message));
  EXPECT_EQ(parse_strict_json("[{\"a\": 1}, {\"a\": 2}]", source).size(), 2u);
  EXPECT_EQ(parse_strict_json(std::string(16, '[') + std::string(16, ']'), source).size(), 1u);
}

TEST(JsonObject, MembersAreTakenOnce) {
  JsonObject object =
      JsonObject::parse(R"({"a": {"n": [1, 18446744073709551615], "t": ["x"]}})", {.name = "f"});
  JsonObject inner = object.object("a");
  object.finish();
  EXPECT_EQ(error_of([&] { inner.finish(); }), "f: unknown key \"a.n\".");
  EXPECT_EQ(inner.unsigned_numbers("n"), (std::vector<std::uint64_t>{1, 18446744073709551615u}));
  EXPECT_EQ(inner.texts("t"), std::vector<std::string>{"x"});
  inner.finish();
  EXPECT_EQ(error_of([&] { inner.texts("t"); }), "f: \"a.t\" is missing.");
}

}  // namespace
}  // namespace heed
