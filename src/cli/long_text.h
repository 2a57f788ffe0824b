// Warns of texts that are longer than any a model has learnt from.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "store/trained_model.h"

namespace heed {

// Pairs: a side longer than any training pair. Texts: a prompt of which only the end is read.
// `name` names the text ("line 3"). True if there is nothing more to warn of.
bool warn_if_long(const TrainedModel& model, const Tokenizer& tokenizer, std::string_view text,
                  const std::string& name, Log& log);

}  // namespace heed
