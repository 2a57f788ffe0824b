// heed verify RUN
#include "inspect/verify.h"

#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kVerifyNotes =
    "Reads every byte and changes nothing, also beside a training process: checksums, links,\n"
    "tensors (finite, of the config's sizes), tokenizer, state, metrics.jsonl, origin.json. Data\n"
    "that is gone or has changed is a note. Exit code 4 if anything is damaged or cannot be read.\n"
    "--json keys: run, whole, checkpoints and files (each a list of name, whole and, if it is\n"
    "not, wrong), notes, resume (the checkpoint that heed resume would take, or null).";

Json json_of(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& p : parts) {
    list.push_back({{"name", p.name}, {"whole", p.wrong.empty()}});
    if (!p.wrong.empty()) list.back()["wrong"] = p.wrong;
  }
  return list;
}

void print_parts(const std::vector<Part>& parts) {
  for (const Part& p : parts)
    print(p.wrong.empty() ? fmt::format("{:15} whole\n", p.name)
                          : fmt::format("{:15} {}: {}\n", p.name,
                                        p.readable ? "DAMAGED" : "NOT READ", p.wrong));
}

// Those that are damaged, or else those that cannot be read.
std::string names_of(const Verification& v, bool readable) {
  std::vector<std::string> names;
  for (const auto* parts : {&v.checkpoints, &v.files})
    for (const Part& p : *parts)
      if (!p.wrong.empty() && p.readable == readable) names.push_back(p.name);
  return joined(names);
}

}  // namespace

Exit run_verify(CommandLine& line) {
  std::string run;
  bool json = false;
  line.add_run(run);
  line.add_json(json);
  line.app().footer(kVerifyNotes);
  if (!line.parse()) return Exit::ok;
  const Verification v = verify(run);
  if (json) {
    print_line({{"run", run},
                {"whole", v.whole()},
                {"checkpoints", json_of(v.checkpoints)},
                {"files", json_of(v.files)},
                {"notes", v.notes},
                {"resume", v.resume.empty() ? Json() : Json(v.resume)}});
  } else {
    print_parts(v.checkpoints);
    print_parts(v.files);
    for (const std::string& note : v.notes) print(fmt::format("note: {}\n", note));
    if (!v.resume.empty()) print(fmt::format("heed resume would continue from {}\n", v.resume));
  }
  if (v.whole()) return Exit::ok;
  flush_output();
  const std::string damaged = names_of(v, true);
  if (damaged.empty())
    throw Error(Exit::store, "no permission to read " + names_of(v, false) + ".",
                "chmod, or run heed as their owner");
  throw Error(Exit::store, "damaged: " + damaged + ".",
              "a copy of it; or --checkpoint with one that is whole");
}

}  // namespace heed
