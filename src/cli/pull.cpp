// The pull in a terminal, as heed explain prints it.
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"

namespace heed {

void print_pull(const Json& e, const string& answer) {
  vector<Json> rows;
  for (const Json& h : e["pull"])
    for (size_t j = 0; j < h["pull"].size(); ++j)
      rows.push_back({{"pull", h["pull"][j]},
                      {"value", h["value_pull"][j]},
                      {"head", part_text(h)},
                      {"key", j},
                      {"token", e[h["kind"] == "cross" ? "source_tokens" : "tokens"][j]}});
  print_prose("the pull of the loss of " + answer +
              ": nats per unit of score, and per unit of value\n");
  print_table(largest(rows, "pull", 8),
              {{"score", "pull", "{:.3g}"},
               {"value", "value", "{:.3g}"},
               {"head", "head"},
               {"key", "key"},
               {"", "token", token_text}},
              "  ");
}

}  // namespace heed
