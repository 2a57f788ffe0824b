// origin.json of a run: where it comes from. The folder that the data's relative paths start from,
// the data's hash, the run it took its weights from or branched from, and the command line. For
// people it also says when the run began, with which version of heed and on which processor.
#pragma once

#include <string>
#include <vector>

#include "base/std_names.h"
#include "data/dataset.h"

namespace heed {

struct Origin {
  string folder;     // "" if unknown; "." in the file is the run folder
  DataHash hash;     // empty if unknown
  string init_from;  // of --init-from, or ""
  string command;
  // OpenBLAS's name of the processor that the run began on: another may change the last digits.
  string core_type = "";
  string branched_from = "";  // of heed resume --branch: the run, or ""
  int64_t branched_at = 0;    // its step
  vector<string> given = {};  // the keys that --set gave
};
void fields(Origin& o, auto visit) {
  visit("folder", o.folder, "data_sha256", o.hash.data, "valid_sha256", o.hash.valid, "init_from",
        o.init_from, "branched_from", o.branched_from, "branched_at", o.branched_at, "command",
        o.command, "given", o.given, "core_type", o.core_type);
}

// Its name: "fables.txt", "notes, 40 files", "dates pairs".
string data_in_words(const DataConfig& data);

string origin_json(const Origin& origin);  // of a run that begins now, on this machine
string processor_name();                   // "AMD EPYC 7763", or "" if unknown

inline constexpr uint64_t kMaxOriginFile = 16u << 20;
// Of a run or one of its checkpoints; all empty if it is missing. Error (store) on a damaged
// file.
Origin read_origin(const string& run);

}  // namespace heed
