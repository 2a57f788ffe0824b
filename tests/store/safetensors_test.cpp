#include "store/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "base/temporary_folder.h"
#include "store/small_checkpoint.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::vector<TensorEntry> listed(const fs::path& path) {
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
  EXPECT_EQ(entries[0].name, "raw.m");
  EXPECT_EQ(entries[0].shape, (Shape{300, 400}));
  EXPECT_EQ(entries[1].shape, (Shape{5}));
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

TEST(Safetensors, AllTensorsThatDoNotFitAreNamedAndNoSlotIsTouched) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  std::vector<float> numbers(6, 1.0f);
  write_safetensors(path, std::vector<TensorSlot>{{"same", {2}, numbers.data()},
                                                  {"turned", {2, 3}, numbers.data()},
                                                  {"only.file", {4}, numbers.data()}});
  std::vector<float> same(2), turned(6), missing(1);
  const std::vector<TensorSlot> slots = {{"same", {2}, same.data()},
                                         {"turned", {3, 2}, turned.data()},
                                         {"only.model", {1}, missing.data()}};
  const std::string message = error_of([&] { read(path, slots); });
  expect_facts(message, {path.string(), "only.file", "[4]", "turned", "[2, 3]", "[3, 2]",
                         "only.model", "[1]"});
  EXPECT_FALSE(stands_in(message, "same"));
  EXPECT_EQ(same, std::vector<float>(2));
}

TEST(Safetensors, FilesThatAreNoneAreRefusedWithoutBigAllocations) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  const std::vector<std::pair<std::string, Facts>> cases = {
      {"", {"0 bytes"}},
      {"1234567", {"7 bytes"}},
      {std::string(8, '\xff'), {"18446744073709551615", "0"}},
      {std::string("\x03\0\0\0\0\0\0\0{}", 10), {"3", "2"}},
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
  expect_error([&] { listed(path); }, Exit::store, {"16777216"});
}

}  // namespace
}  // namespace heed
