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
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
  const auto views = views_of(tensor_slots(table, values, "raw."));
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
  const float numbers[] = {1.0f, -2.0f};
  write_safetensors(folder.path() / "x", std::vector<TensorView>{{"w", {1, 2}, numbers}});
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
  const std::vector<float> numbers(6, 1.0f);
  write_safetensors(path, std::vector<TensorView>{{"same", {2}, numbers.data()},
                                                  {"turned", {2, 3}, numbers.data()},
                                                  {"only.file", {4}, numbers.data()}});
  std::vector<float> same(2), turned(6), missing(1);
  const std::vector<TensorSlot> slots = {{"same", {2}, same.data()},
                                         {"turned", {3, 2}, turned.data()},
                                         {"only.model", {1}, missing.data()}};
  EXPECT_THAT(error_of([&] { read(path, slots); }),
              AllOf(HasSubstr(path.string()), HasSubstr("extra: only.file [4]"),
                    HasSubstr("wrong shape: turned is [2, 3], expected [3, 2]"),
                    HasSubstr("missing: only.model [1]"), Not(HasSubstr("same"))));
  EXPECT_EQ(same, std::vector<float>(2));
}

TEST(Safetensors, FilesThatAreNoneAreRefusedWithoutBigAllocations) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "0 bytes are too few"},
      {"1234567", "7 bytes are too few"},
      {std::string(8, '\xff'), "a header of 18446744073709551615 bytes, expected at most 0"},
      {std::string("\x03\0\0\0\0\0\0\0{}", 10), "a header of 3 bytes, expected at most 2"},
      {std::string(8, '\0'), "not JSON"},
  };
  for (const auto& [bytes, expected] : cases) {
    replace_file(path, bytes);
    EXPECT_THAT(error_of([&] { listed(path); }),
                AllOf(HasSubstr(path.string()), HasSubstr(expected)));
  }
  // A sparse file of 1 TiB that claims to be all header.
  std::string length(8, '\0');
  length[4] = '\x80';
  replace_file(path, length);
  fs::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_THAT(error_of([&] { listed(path); }), HasSubstr("expected at most 16777216"));
}

}  // namespace
}  // namespace heed
