// The config that suits a text: what `heed train TEXT` trains, and what `heed init` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/std_names.h"
#include "data/corpus.h"
#include "data/run_config.h"

namespace heed {

struct OwnText {
  vector<string> files;  // named by the user; once read, each file
  string like = "";      // one of families(); "": pairs if the file is a table, else gpt
  string columns = "";   // data.columns
  double minutes = 5;    // that training may take
  string program = "";   // that is to open the model: huggingface
  string name = "";      // for people: "a.txt, b.txt, c.txt and 9 more"
  TextFacts facts = {};
  bool pairs() const { return like == "pairs"; }  // one file, for a model that translates
};

// What to call a text: "mine" for "a/mine.txt", "stdin" for "-".
string name_of_text(const string& path);

// Finds the texts that the user named, reads them once and logs what they are, also if that is a
// table of pairs. Errors as find_texts(); (data) of a table whose columns are not named; (usage) of
// several.
void read_own_text(OwnText& text, bool any_bytes, Log& log);

// The values of --like.
vector<string> families();

struct Suggestion {
  RunConfig config;         // its keys as a user would write them, the rest left open
  string tokens;            // which ones, and why
  double step_minutes = 0;  // on the machine that sizes are chosen for
  double passes = 0;        // through the text, at most: more would only memorise it
  double validation = 0;    // what one costs, in steps: a third of training on its tokens
};

// Of so many steps, with validations and film, in steps.
double whole_cost(double steps, double validation);
// The steps that there is time for with all that, but no more than are useful, or 300, which a
// small text needs. The number of their validations divides them.
int64_t steps_in_time(double in_time, double useful, double validation);
// Ends the training there; its intervals are shares of it.
void set_steps(RunConfig& config, int64_t steps, double validation);

// Makes a model of the same shape with this d_model.
void set_width(ModelConfig& model, int d_model);

// With the steps that are estimated to fit into the minutes.
Suggestion suggest(const OwnText& text);
// The config for one file or folder, changed by --set.
RunConfig config_for(const string& path, const GivenKeys& given, Log& log);

// JSON with comments (suggested_config.json).
string suggested_config(const OwnText& text, const Suggestion& s);

}  // namespace heed
