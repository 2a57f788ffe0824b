// The message of the Error that an action ends in.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace heed {

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

}  // namespace heed
