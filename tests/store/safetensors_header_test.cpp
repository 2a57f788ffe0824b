#include "store/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/safetensors_header.h"
#include "store/small_checkpoint.h"

namespace heed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string tensor(const std::string& name, const std::string& shape, const std::string& offsets) {
  return '"' + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         '}';
}

TEST(SafetensorsHeader, WhatIsFormattedIsParsed) {
  const std::vector<TensorEntry> entries = {
      {"b", {2, 3}, 0, 24}, {"a \"quoted\" näme", {}, 24, 28}, {"none", {0, 5}, 28, 28}};
  const std::string bytes = format_safetensors_header(entries);
  EXPECT_EQ(bytes.size() % 8, 0u);
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  EXPECT_EQ(length, bytes.size() - 8);
  const auto parsed = parse_safetensors_header(bytes.substr(8), 28, "f");
  ASSERT_EQ(parsed.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(parsed[i].name, entries[i].name);
    EXPECT_EQ(parsed[i].shape, entries[i].shape);
    EXPECT_EQ(parsed[i].begin, entries[i].begin);
    EXPECT_EQ(parsed[i].end, entries[i].end);
  }
}

TEST(SafetensorsHeader, OrderOfTheTextDoesNotMatter) {
  const auto entries = parse_safetensors_header(
      "{" + tensor("b", "[1]", "[4,8]") + "," + tensor("a", "[1]", "[0,4]") + "}  ", 8, "f");
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[1].name, "b");
}

TEST(SafetensorsHeader, HostileHeadersAreRefusedByName) {
  const std::string a = tensor("a", "[1]", "[0,4]");
  struct Case {
    std::string header;
    std::uint64_t data_size;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"", 0, "not JSON"},
      {"{", 0, "not JSON"},
      {"{}x", 0, "not JSON"},
      {"{\"\xff\":1}", 0, "not JSON"},
      {"[]", 0, "expected a JSON object; found []"},
      {"null", 0, "found null"},
      {"7", 0, "found 7"},
      {"{\"a\":[]}", 0, "\"a\" must be an object; found []"},
      {"{" + tensor("a", "[1]", "[0,4],\"b\":{}") + "}", 4, "unknown key \"a.b\""},
      {"{" + tensor("a", "{}", "[0,4]") + "}", 4, "\"a.shape\" must be a list of whole numbers"},
      {"{" + tensor("a", "[[1]]", "[0,4]") + "}", 4, "nested too deeply"},
      {std::string(100000, '['), 0, "nested too deeply"},
      {"{\"a\":{\"shape\":" + std::string(100000, '['), 0, "nested too deeply"},
      {"{\"a\":{}}", 0, "\"a.dtype\" is missing"},
      {"{\"a\":{\"dtype\":\"F32\"}}", 0, "\"a.shape\" is missing"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 0, "\"a.data_offsets\" is missing"},
      {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, "the key \"a.dtype\" occurs twice"},
      {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[]}}", 0, "dtype is \"BF16\", expected \"F32\""},
      {"{\"a\":{\"dtype\":32}}", 0, "\"a.dtype\" must be a string; found 32"},
      {"{" + tensor("a", "[-1]", "[0,4]") + "}", 4,
       "\"a.shape\" must be a list of whole numbers from 0 to 2^64 - 1; found [-1]"},
      {"{" + tensor("a", "[1.5]", "[0,4]") + "}", 4, "found [1.5]"},
      {"{" + tensor("a", "[1]", "[0,99999999999999999999]") + "}", 4,
       "\"a.data_offsets\" must be a list of whole numbers"},
      {"{" + tensor("a", "[1,1,1,1,1,1,1,1,1]", "[0,4]") + "}", 4, "more than 8 sizes"},
      {"{" + tensor("a", "[9223372036854775808]", "[0,4]") + "}", 4, "too large"},
      {"{" + tensor("a", "[4294967296,4294967296]", "[0,0]") + "}", 0, "too large"},
      {"{" + tensor("a", "[1073741824,4294967296]", "[0,0]") + "}", 0, "too large"},
      {"{" + tensor("a", "[4611686018427387904]", "[0,0]") + "}", 0, "too large"},
      {"{" + tensor("a", "[2]", "[0,4]") + "}", 4,
       "shape [2] needs 8 bytes, data_offsets give it 4"},
      {"{" + tensor("a", "[1]", "[4,0]") + "}", 4, "end before they begin"},
      {"{" + tensor("a", "[1]", "[0,4,8]") + "}", 8, "it needs two data_offsets"},
      {"{" + tensor("a", "[1]", "[0]") + "}", 8, "two data_offsets"},
      {"{" + a + "}", 3, "\"a\": data_offsets [0, 4] reach beyond the 3 bytes"},
      {"{" + tensor("a", "[1]", "[18446744073709551612,18446744073709551615]") + "}", 4, "needs 4"},
      {"{" + a + "}", 5, "1 bytes after the last tensor"},
      {"{}", 4, "4 bytes after the last tensor"},
      {"{" + a + "," + tensor("b", "[1]", "[8,12]") + "}", 12,
       "\"b\": data_offsets [8, 12] leave a hole"},
      {"{" + a + "," + tensor("b", "[2]", "[0,8]") + "}", 8,
       "\"b\": data_offsets [0, 8] overlap those of \"a\""},
      {"{" + a + "," + tensor("b", "[1]", "[5,9]") + "}", 9, "do not begin at a multiple of 4"},
      {"{" + a + "," + tensor("a", "[1]", "[4,8]") + "}", 8, "the key \"a\" occurs twice"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "the key \"__metadata__\" occurs twice"},
      {"{\"__metadata__\":{\"x\":1}}", 0, "\"__metadata__.x\" must be a string; found 1"},
      {"{\"__metadata__\":{\"x\":{}}}", 0, "\"__metadata__.x\" must be a string; found {}"},
      {"{\"__metadata__\":[]}", 0, "\"__metadata__\" must be an object; found []"},
      {"{\"\\u001b[2J\":1}", 0, "\"\\u001b[2J\""},  // no control characters on the terminal
  };
  for (const Case& c : cases) {
    const std::string message =
        error_of([&] { parse_safetensors_header(c.header, c.data_size, "FILE"); });
    EXPECT_THAT(message, AllOf(HasSubstr("FILE"), HasSubstr(c.expected)))
        << c.header.substr(0, 100);
  }
}

// The megabytes that a child process needs beyond ours.
long megabytes_for(const std::string& header) {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const long before = usage.ru_maxrss;
  const pid_t child = ::fork();
  if (child == 0) {
    error_of([&] { parse_safetensors_header(header, 0, "FILE"); });
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ::wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  return (usage.ru_maxrss - before) / 1024;
}

TEST(SafetensorsHeader, TheLargestHostileHeadersNeedLessThanAGigabyte) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs more";
#endif
  std::string members, zeros;
  for (int i = 0; members.size() < kMaxSafetensorsHeader - 100; ++i)
    members += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  while (zeros.size() < kMaxSafetensorsHeader - 100) zeros += "0,";
  EXPECT_LT(megabytes_for("{" + members + "}"), 1000);
  EXPECT_LT(megabytes_for("{" + tensor("a", "[" + zeros + "0]", "[0,4]") + "}"), 1000);
}

}  // namespace
}  // namespace heed
