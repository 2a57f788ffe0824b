// Files that say which source positions determine a target position, and which noun a pronoun
// refers to (formats: data/README.md), turned into links between the rows that a model reads.
//
// Pairs: row t of the decoder reads token t - 1 (<s> for t = 0) and predicts token t, so the gold
// of target token t is about query row t of cross-attention. A token has the gold of every unit
// (word or character) that it overlaps; tokens without gold are not scored. Pronouns: the query
// rows of self-attention are those that read the pronoun's tokens, the keys those that read the
// noun's; "mentions", where the file has them, are the other right answers: earlier nouns of the
// same referent. The input is the story up to the pronoun, as much of it as fits.
//
// Every line is checked against the texts it belongs to; what does not fit is an Error (Exit::data)
// that names file and line. What is left out (too long, noun out of reach) is counted in the notes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "inspect/attention_maps.h"
#include "text/tokenizers.h"

namespace heed {

struct GoldFiles {
  std::string gold;
  std::string source;     // lines; for pronouns: the text
  std::string target;     // lines; for pronouns: ""
  std::size_t limit = 0;  // use at most so many entries of the gold file; 0: all
};

struct GoldLink {
  int query;              // this row
  std::vector<int> keys;  // should look at these: ascending, not empty
  std::vector<int>
      also_right;  // pronouns: all mentions of the referent in reach, ascending; `keys` too
};

struct GoldExample {
  Example input;
  std::vector<GoldLink> links;
  // Wrong answers of the right sort, visible to every link: gold of other positions of the line,
  // nouns of the story's other referents.
  std::vector<std::vector<int>> distractors;
  int group = 0;  // examples of one group (line, story) are not independent of each other
};

// Both ascending: have they no row in common?
bool disjoint(const std::vector<int>& a, const std::vector<int>& b);

// The examples for one kind of attention.
struct GoldSet {
  AttentionKind kind;
  std::vector<GoldExample> examples;
  std::string group_name;          // "lines" or "stories"
  std::vector<std::string> notes;  // what was left out, what is unknown
};

// One set for pairs, one for each stack for pronouns. Error (usage) where the model cannot have it.
std::vector<GoldSet> read_gold(const GoldFiles& files, const RunConfig& config,
                               const Tokenizers& tokenizers);

}  // namespace heed
