// Token ids of a corpus, in 16 bits where the vocabulary allows.
#pragma once

#include <cstdint>
#include <vector>

namespace heed {

class Ids {
 public:
  explicit Ids(int vocab = 1) : vocab_(vocab), wide_(vocab > 65536) {}

  int vocab() const { return vocab_; }  // all ids are below it

  void push_back(int id) {
    wide_ ? long_.push_back(static_cast<std::uint32_t>(id))
          : short_.push_back(static_cast<std::uint16_t>(id));
  }
  std::size_t size() const { return wide_ ? long_.size() : short_.size(); }
  int operator[](std::size_t i) const {
    return wide_ ? static_cast<int>(long_[i]) : static_cast<int>(short_[i]);
  }
  // Appends ids [begin, end) to `to`.
  void copy(std::size_t begin, std::size_t end, std::vector<int>& to) const {
    for (std::size_t i = begin; i < end; ++i) to.push_back((*this)[i]);
  }
  void truncate(std::size_t n) { wide_ ? long_.resize(n) : short_.resize(n); }
  // Room for n ids, so that growing never holds two copies. Room that stays unused costs nothing.
  void reserve(std::size_t n) { wide_ ? long_.reserve(n) : short_.reserve(n); }
  int bytes_per_id() const { return wide_ ? 4 : 2; }

 private:
  int vocab_;
  bool wide_;
  std::vector<std::uint16_t> short_;
  std::vector<std::uint32_t> long_;
};

}  // namespace heed
