#include "store/safetensors.h"

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

TEST(Safetensors, OtherTensorsAreRefusedAndNoSlotIsTouched) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  std::vector<float> numbers(6, 1.0f);
  write_safetensors(path, std::vector<TensorSlot>{{"same", {2}, numbers.data()},
                                                  {"turned", {2, 3}, numbers.data()}});
  std::vector<float> same(2), turned(6), other(1);
  const TensorSlot slot{"same", {2}, same.data()}, right{"turned", {2, 3}, turned.data()};
  const auto refused = [&](const std::vector<TensorSlot>& slots) {
    expect_error([&] { read(path, slots); }, Exit::store, {path.string(), "tensors"});
    EXPECT_EQ(same, std::vector<float>(2));
  };
  refused({slot, {"turned", {3, 2}, turned.data()}});
  refused({slot, {"named", {2, 3}, turned.data()}});
  refused({slot});
  refused({slot, right, {"only.model", {1}, other.data()}});
  read(path, std::vector{slot, right});
  EXPECT_EQ(turned, numbers);
}

TEST(Safetensors, AFileIsAsLongAsItSays) {
  TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  std::vector<float> numbers(6, 1.0f);
  const auto count = [&] {
    InputFile file(path);
    return count_numbers(file);
  };
  write_safetensors(path, std::vector<TensorSlot>{});
  EXPECT_EQ(count(), 0u);
  write_safetensors(
      path, std::vector<TensorSlot>{{"a", {2}, numbers.data()}, {"b", {2, 3}, numbers.data()}});
  EXPECT_EQ(count(), 8u);
  const auto size = fs::file_size(path);
  for (const auto other : {size - 1, size + 1, size_t{1} << 40, size_t{8}, size_t{0}}) {
    fs::resize_file(path, other);
    expect_error([&] { count(); }, Exit::store, {path.string()});
  }
  std::string length(8, '\0');  // a sparse file of 1 TiB that claims to be all header
  length[4] = '\x80';
  replace_file(path, length);
  fs::resize_file(path, std::uintmax_t{1} << 40);
  expect_error([&] { count(); }, Exit::store, {path.string()});
}

}  // namespace
}  // namespace heed
