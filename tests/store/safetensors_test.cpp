#include "store/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "base/temporary_folder.h"
#include "store/small_checkpoint.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

ByName<TensorEntry> listed(const fs::path& path) {
  InputFile file(path);
  return list_safetensors(file);
}

void read(const fs::path& path, std::span<const TensorSlot> slots) {
  InputFile file(path);
  read_safetensors(file, slots);
}

TEST(Safetensors, EveryBitOfATableComesBack) {
  ParamTable table;
  table.add_matrix("m", 300, 400, {Initializer::zeros, 0.0});
  table.add_vector("v", 5, Initializer::zeros);
  ParamVec<float> values(table.size()), found(table.size());
  for (std::size_t i = 0; i < values.size(); ++i) values.data()[i] = std::sin(float(i)) * 1e-3f;
  values.data()[0] = std::numeric_limits<float>::quiet_NaN();
  values.data()[1] = std::numeric_limits<float>::denorm_min();
  values.data()[2] = -0.0f;

  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  const auto views = tensor_slots(table, values, "raw.");
  const std::string digest = write_safetensors(path, views);
  EXPECT_EQ(digest, sha256(read_file(path, 1 << 20)));
  read(path, tensor_slots(table, found, "raw."));
  EXPECT_EQ(std::memcmp(values.data(), found.data(), values.size() * sizeof(float)), 0);

  const auto entries = listed(path);
  EXPECT_EQ(entries[0].first, "raw.m");
  EXPECT_EQ(entries[0].second.shape, (Shape{300, 400}));
  EXPECT_EQ(entries[1].second.shape, (Shape{5}));
}

// What any reader of the format expects, byte for byte.
TEST(Safetensors, TheFormatIsTheFormat) {
  TemporaryFolder folder;
  float numbers[] = {1.0f, -2.0f};
  write_safetensors(folder.path() / "x", std::vector<TensorSlot>{{"w", {1, 2}, numbers}});
  std::string json =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::string expected = std::string(1, char(json.size())) + std::string(7, '\0') + json +
                               std::string("\0\0\x80\x3f\0\0\0\xc0", 8);
  EXPECT_EQ(read_file(folder.path() / "x", 1000), expected);
}

TEST(Safetensors, ATensorThatDoesNotFitIsNamedAndNoSlotIsTouched) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  std::vector<float> numbers(6, 1.0f);
  write_safetensors(path, std::vector<TensorSlot>{{"same", {2}, numbers.data()},
                                                  {"turned", {2, 3}, numbers.data()}});
  std::vector<float> same(2), turned(6), other(1);
  const TensorSlot slot{"same", {2}, same.data()}, right{"turned", {2, 3}, turned.data()};
  const auto refused = [&](const std::vector<TensorSlot>& slots, const Facts& facts) {
    expect_error([&] { read(path, slots); }, Exit::store, facts);
    EXPECT_EQ(same, std::vector<float>(2));
  };
  refused({slot, {"turned", {3, 2}, turned.data()}}, {path.string(), "turned", "[2, 3]", "[3, 2]"});
  refused({slot}, {"turned"});
  refused({slot, right, {"only.model", {1}, other.data()}}, {"only.model"});
}

TEST(Safetensors, FilesThatAreNoneAreRefusedWithoutBigAllocations) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  const std::vector<std::pair<std::string, Facts>> cases = {
      {"", {"0 bytes", "cut short"}},
      {std::string(8, '\xff'), {"18446744073709551615", "cut short"}},
      {std::string("\x03\0\0\0\0\0\0\0{}", 10), {"10 bytes", "3"}},
      {std::string(8, '\0'), {"JSON"}},
  };
  for (const auto& [bytes, facts] : cases) {
    replace_file(path, bytes);
    expect_error([&] { listed(path); }, Exit::store, {path.string()});
    expect_error([&] { listed(path); }, Exit::store, facts);
  }
  // A sparse file of 1 TiB that claims to be all header.
  std::string length(8, '\0');
  length[4] = '\x80';
  replace_file(path, length);
  fs::resize_file(path, std::uintmax_t{1} << 40);
  expect_error([&] { listed(path); }, Exit::store, {"549755813888"});
}

std::string tensor(const std::string& name, const std::string& shape, const std::string& offsets) {
  return '"' + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         '}';
}

std::string file_of(std::string header, const std::string& data) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[i] = char(header.size() >> 8 * i);
  return length + header + data;
}

TEST(SafetensorsHeader, OrderDoesNotMatter) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  replace_file(path,
               file_of("{" + tensor("b", "[1]", "[4,8]") + "," + tensor("a", "[1]", "[0,4]") + "}",
                       std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
  float a = 0, b = 0;
  read(path, std::vector<TensorSlot>{{"b", {1}, &b}, {"a", {1}, &a}});
  EXPECT_EQ(a, 1.0f);
  EXPECT_EQ(b, -2.0f);
}

TEST(SafetensorsHeader, HostileHeadersAreRefusedByName) {
  const std::string a = tensor("a", "[1]", "[0,4]");
  struct Case {
    std::string header;
    std::size_t data_size;
    Facts facts;
  };
  const std::vector<Case> cases = {
      {"", 0, {"JSON"}},
      {"{\"\xff\":1}", 0, {"JSON"}},
      {"[]", 0, {"object", "[]"}},
      {std::string(100000, '['), 0, {}},
      {"{\"a\":{}}", 0, {"a.dtype"}},
      {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, {"a.dtype"}},
      {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, {"BF16", "F32"}},
      {"{" + tensor("a", "[-1]", "[0,4]") + "}", 4, {"a", "-1"}},
      {"{" + tensor("a", "[4294967296,4294967296]", "[0,0]") + "}", 0, {"a"}},
      {"{" + tensor("a", "[4611686018427387904]", "[0,0]") + "}", 0, {"a"}},
      {"{" + tensor("a", "[2]", "[0,4]") + "}", 4, {"a", "data_offsets", "[0, 4]", "[2]", "[1]"}},
      {"{" + tensor("a", "[1]", "[]") + "}", 0, {"a"}},
      {"{" + tensor("a", "[1]", "[4,0]") + "}", 0, {"a"}},
      {"{" + tensor("a", "[1]", "[18446744073709551612,18446744073709551615]") + "}",
       4,
       {"cut short"}},
      {"{" + a + "}", 5, {"cut short"}},
      {"{" + a + "," + tensor("b", "[1]", "[8,12]") + "}",
       12,
       {"b", "data_offsets", "[8, 12]", "[4, 8]"}},
      {"{" + a + "," + tensor("b", "[2]", "[0,8]") + "}",
       8,
       {"b", "data_offsets", "[0, 8]", "[4, 12]"}},
      {"{" + a + "," + tensor("a", "[1]", "[4,8]") + "}", 8, {"a"}},
      {"{\"\\u001b[2J\":1}", 0, {"\\u001b[2J"}},  // no control characters on the terminal
  };
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  float numbers[2] = {};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.header.substr(0, 100));
    replace_file(path, file_of(c.header, std::string(c.data_size, '\0')));
    Facts facts = c.facts;
    facts.push_back(path.string());
    std::vector<TensorSlot> slots = {{"a", {1}, numbers}};
    if (c.header.find("\"b\"") != std::string::npos)
      slots.push_back({"b", {c.header.find("[2]") == std::string::npos ? 1 : 2}, numbers});
    expect_error([&] { read(path, slots); }, Exit::store, facts);
  }
}

// The megabytes that a child process needs beyond ours.
long megabytes_for(const std::string& header) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  replace_file(path, file_of(header, ""));
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const long before = usage.ru_maxrss;
  const pid_t child = ::fork();
  if (child == 0) {
    error_of([&] { listed(path); });
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
  constexpr std::size_t kMost = 16 << 20;
  std::string members, zeros;
  for (int i = 0; members.size() < kMost - 100; ++i)
    members += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  while (zeros.size() < kMost - 100) zeros += "0,";
  EXPECT_LT(megabytes_for("{" + members + "}"), 1000);
  EXPECT_LT(megabytes_for("{" + tensor("a", "[" + zeros + "0]", "[0,4]") + "}"), 1000);
}

}  // namespace
}  // namespace heed
