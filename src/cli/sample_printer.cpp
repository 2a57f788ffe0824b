#include "cli/sample_printer.h"

#include <nlohmann/json.hpp>

#include "cli/output.h"

namespace heed {

SamplePrinter::SamplePrinter(const TrainedModel& m, const SampleRequest& r,
                             const std::vector<std::string>& stops, bool json, std::string prompt)
    : tokenizer_(*m.tokenizers.target), json_(json), prompt_(std::move(prompt)) {
  const bool continues = m.objective->continues();
  shows_prompt_ = continues && !json;
  streams_ = r.num_samples == 1;
  begun_ = !streams_ || !shows_prompt_;
  const int previous = !continues || r.prompt.empty() ? -1 : r.prompt.back();
  for (int i = 0; i < r.num_samples; ++i)
    samples_.push_back({TextStream(tokenizer_, previous, stops)});
}

// A stream's prompt waits for its first token: a model that fails before it prints nothing.
void SamplePrinter::begin() {
  if (!begun_) print(to_valid_utf8(prompt_));
  begun_ = true;
}

bool SamplePrinter::add(int i, int id) {
  begin();
  Sample& s = samples_[i];
  s.ids.push_back(id);
  const std::string text = s.stream.push(id);
  s.text += text;
  if (streams_) {
    if (json_)
      print_line({{"sample", i}, {"id", id}, {"token", tokenizer_.piece(id)}, {"text", text}});
    else
      print(text);
    flush_output();
  }
  return !s.stream.stopped();
}

void SamplePrinter::complete(int i) {
  begin();
  Sample& s = samples_[i];
  const std::string rest = s.stream.finish();
  s.text += rest;
  if (streams_ && !json_) print(rest);
  s.complete = true;
  for (; next_ < samples_.size() && samples_[next_].complete; ++next_) {
    json_ ? print_json(next_) : print_plain(next_);
    samples_[next_].text.clear();
  }
  flush_output();
}

void SamplePrinter::print_plain(std::size_t i) {
  const std::string shown =
      (shows_prompt_ ? to_valid_utf8(prompt_) : std::string()) + samples_[i].text;
  if (i > 0) print("\n");
  if (!streams_) print(shown);
  if (!shown.ends_with('\n')) print("\n");
}

void SamplePrinter::print_json(std::size_t i) {
  const Sample& s = samples_[i];
  print_line({{"sample", i},
              {"prompt", to_valid_utf8(prompt_)},
              {"text", s.text},
              {"ids", s.ids},
              {"tokens", tokenizer_.pieces(s.ids)}});
}

}  // namespace heed
