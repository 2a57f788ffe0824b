#include "show/loss_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/splits.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(TrainingLossNote, NamesWhatDiffersBetweenTheCurves) {
  const auto note = [](std::vector<std::string> sets) {
    return training_loss_note(text_config(sets));
  };
  EXPECT_THAT(note({"model.dropout=0.2"}), HasSubstr("with dropout"));
  EXPECT_THAT(note({"model.dropout=0"}), Not(HasSubstr("dropout")));
  EXPECT_THAT(note({"model.dropout=0", "model.attention_dropout=0.1"}), HasSubstr("with dropout"));
  EXPECT_THAT(note({"train.ema_decay=0.9"}), HasSubstr("averaged weights"));
  EXPECT_THAT(note({"objective.label_smoothing=0.1"}), HasSubstr("label smoothing"));
  EXPECT_THAT(note({}), Not(testing::AnyOf(HasSubstr("averaged"), HasSubstr("smoothing"))));
}

}  // namespace
}  // namespace heed
