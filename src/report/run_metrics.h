// metrics.jsonl of a run, for those who look at it afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace heed {

// The run folder that a checkpoint belongs to: RUN/checkpoints/step-N, or an exported one.
std::filesystem::path run_of_checkpoint(const std::filesystem::path& checkpoint);

// An array of the events up to `step`, oldest first. Lines that are torn or no events are left out;
// empty if there is no such file.
nlohmann::ordered_json read_metrics(const std::filesystem::path& run, std::int64_t step);

// The learning records among them, [{"step", "matrices", "entropy"}], which are moved out. All have
// the layout that train_metrics() writes and the matrices and heads of the last one; every number
// may be null. Others are left out.
nlohmann::ordered_json take_learning_records(nlohmann::ordered_json& metrics);

// The last of them, or null. A schedule may end at a rate of 0: then the update ratios are those of
// the last step that moved the weights, which "update_step" names. Keeps two in memory at most.
nlohmann::ordered_json last_learning_record(const std::filesystem::path& run, std::int64_t step);

}  // namespace heed
