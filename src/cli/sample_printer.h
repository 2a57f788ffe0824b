// Prints samples in order, each as soon as it and the ones before it are complete; a single one
// token by token.
#pragma once

#include <string>
#include <vector>

#include "decode/sampling.h"
#include "decode/text_stream.h"
#include "store/trained_model.h"

namespace heed {

class SamplePrinter {
 public:
  // `prompt`: the text of request.prompt. The model must outlive the printer.
  SamplePrinter(const TrainedModel& model, const SampleRequest& request,
                const std::vector<std::string>& stops, bool json, std::string prompt);

  // Token `id` of sample i. False: a text in `stops` ended the sample.
  bool add(int i, int id);
  void complete(int i);

 private:
  struct Sample {
    TextStream stream;
    std::string text = "";
    std::vector<int> ids = {};
    bool complete = false;
  };
  void begin();
  void print_plain(std::size_t i);
  void print_json(std::size_t i);

  const Tokenizer& tokenizer_;
  bool json_, shows_prompt_, streams_, begun_;
  std::string prompt_;
  std::vector<Sample> samples_;
  std::size_t next_ = 0;
};

}  // namespace heed
