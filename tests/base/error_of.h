// What a refusal must tell: its exit code and its facts, each of which must stand in the message
// as a whole word: a path, a line of a file, a key, a number, a value, a command to try, the
// system's reason. The words around them are free.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
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

// Whether a word or a number (1,500 or 0.1 or 1e-4 or -1) goes on across this place of a text.
inline bool goes_on(std::string_view text, std::size_t at) {
  const auto near = [&](std::ptrdiff_t i) {  // '\0' beyond the ends
    const std::size_t place = at + static_cast<std::size_t>(i);
    return place < text.size() ? static_cast<unsigned char>(text[place]) : '\0';
  };
  const auto word = [&](std::ptrdiff_t i) { return std::isalnum(near(i)) || near(i) == '_'; };
  const auto digit = [&](std::ptrdiff_t i) { return std::isdigit(near(i)) != 0; };
  const auto point = [&](std::ptrdiff_t i) { return near(i) == '.' || near(i) == ','; };
  const bool sign = near(-1) == '-' && (!word(-2) || (near(-2) == 'e' && digit(-3)));
  return (word(-1) && word(0)) || (digit(-2) && point(-1) && digit(0)) ||
         (digit(-1) && point(0) && digit(1)) || (sign && digit(0));
}

// Whether a fact, which is not empty, stands in a text, and not as a part of a longer word or
// number.
inline bool stands_in(std::string_view text, std::string_view fact) {
  for (std::size_t at = 0; !fact.empty() && (at = text.find(fact, at)) != text.npos; ++at)
    if (!goes_on(text, at) && !goes_on(text, at + fact.size())) return true;
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
