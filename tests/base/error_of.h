// What a refusal must tell: its exit code and its facts, each of which must stand in the message
// as a whole word: a path, a line of a file, a key, a number, a value, a command to try, the
// system's reason. The words around them are free.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace heed {

using Facts = std::vector<std::string>;

// The message of the Error that an action ends in.
template <class Action>
std::string error_of(Action action, Exit exit = Exit::store) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), exit);
    return e.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

// Whether a fact stands in a text, and not as a part of a longer word or number.
inline bool stands_in(std::string_view text, std::string_view fact) {
  const auto joins = [](char left, char right) {
    const auto in_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    return in_word(left) && in_word(right);
  };
  for (std::size_t at = 0; (at = text.find(fact, at)) != text.npos; ++at) {
    const std::size_t end = at + fact.size();
    if ((at == 0 || !joins(text[at - 1], fact.front())) &&
        (end == text.size() || !joins(fact.back(), text[end])))
      return true;
  }
  return false;
}

inline void expect_facts(std::string_view message, const Facts& facts) {
  for (const std::string& fact : facts)
    EXPECT_TRUE(stands_in(message, fact)) << "\"" << fact << "\" is not in: " << message;
}

template <class Action>
void expect_error(Action action, Exit exit, const Facts& facts) {
  expect_facts(error_of(action, exit), facts);
}

}  // namespace heed
