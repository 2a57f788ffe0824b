#include "base/trade_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace heed {
namespace {

constexpr std::string_view kTokensOfAStep =
    "it counts the tokens of a step, that is sequences times their length";

// The last part of a key: lr of optimizer.lr.
constexpr TradeWord kKeys[] = {
    {"lr lrate max_lr peak_lr base_lr initial_lr step_size learn_rate learningrate",
     "optimizer.learning_rate"},
    {"min_lr lr_min eta_min final_lr lr_end end_learning_rate learning_rate_min",
     "optimizer.min_learning_rate"},
    {"warmup warmup_iters warmup_updates num_warmup_steps lr_warmup lr_warmup_steps "
     "learning_rate_warmup warm_up",
     "optimizer.warmup_steps"},
    {"lr_decay_iters lr_decay_steps decay_iters", "optimizer.decay_steps"},
    {"scheduler lr_scheduler lr_scheduler_type lr_schedule scheduling decay_lr lr_decay",
     "optimizer.schedule"},
    {"grad_clip clip_grad clip_grad_norm grad_norm_clip max_grad_norm max_norm grad_norm clip "
     "gradient_clipping gradient_clip_val",
     "optimizer.clip_norm"},
    {"wd decay l2", "optimizer.weight_decay"},
    {"beta1 beta2 adam_beta1 adam_beta2 adam_betas", "optimizer.betas", "a list of both"},
    {"epsilon adam_eps adam_epsilon", "optimizer.eps"},
    {"optim opt optimiser optimizer_name", "optimizer.type"},
    {"n_embd n_embed dim hidden_size hidden_dim hidden embed_dim embedding_dim embedding_size "
     "emb_size dim_emb model_dim model_size width",
     "model.d_model"},
    {"n_head num_heads heads nhead nheads head_count num_attention_heads attention_heads "
     "transformer_heads encoder_attention_heads decoder_attention_heads",
     "model.n_heads"},
    {"ff_size ff_dim ffn_dim ffn_size ffn_hidden mlp_dim d_inner n_inner intermediate_size "
     "dim_feedforward transformer_dim_ffn",
     "model.d_ff"},
    {"n_layer n_layers nlayers num_layers layers depth n_blocks num_blocks num_hidden_layers",
     "model.decoder_layers", "those of an encoder: model.encoder_layers"},
    {"num_decoder_layers n_dec_layers dec_depth decoder_depth", "model.decoder_layers"},
    {"num_encoder_layers n_enc_layers enc_depth encoder_depth", "model.encoder_layers"},
    {"pos_emb pos_enc pos_encoding position_encoding positional_encoding position_embedding "
     "position_embeddings position_embedding_type rope use_rope",
     "model.positions"},
    {"layer_norm layernorm layer_norm_position norm_first normalize_before pre_norm prenorm "
     "post_norm",
     "model.norm"},
    {"act act_fn hidden_act activation_function nonlinearity transformer_ffn_activation",
     "model.activation"},
    {"dropout_rate dropout_prob drop p_dropout resid_pdrop embd_pdrop resid_dropout emb_dropout "
     "hidden_dropout hidden_dropout_prob transformer_dropout",
     "model.dropout"},
    {"attn_pdrop attn_dropout attention_probs_dropout_prob transformer_dropout_attention",
     "model.attention_dropout"},
    {"tie_weights tie_embeddings tie_word_embeddings tied_embeddings tied_embeddings_all "
     "tied_softmax weight_tying share_all_embeddings",
     "model.tie"},
    {"initializer init_std initializer_range weight_init initialization", "model.init"},
    {"block_size context context_length context_size ctx_len n_ctx n_positions window seq_len "
     "seq_length seqlen sequence_length max_seq_len max_seq_length max_sequence_length max_len "
     "max_position_embeddings tokens_per_sample",
     "objective.target_length", "for pairs: data.max_length"},
    {"max_sent_length max_sentence_length max_source_positions max_target_positions",
     "data.max_length"},
    {"mlm_probability mlm_prob mask_prob mask_rate mask_ratio mask_probability masked_lm_prob "
     "noise_density",
     "objective.mask_fraction"},
    {"span_length mean_span_length mean_noise_span_length", "objective.mean_span"},
    {"task arch architecture model_type", "objective.type"},
    {"smoothing", "objective.label_smoothing"},
    {"max_iters max_iterations iterations iters steps n_steps num_steps total_steps num_iters "
     "max_update max_updates updates train_steps training_steps num_train_steps",
     "train.max_steps"},
    {"epochs n_epochs num_epochs nb_epochs num_train_epochs after_epochs", "train.max_epochs"},
    {"minutes max_time time_limit", "train.max_minutes"},
    {"batch batch_size batchsize bs mini_batch mini_batch_size mini_batch_words train_batch_size "
     "per_device_train_batch_size tokens_per_batch max_tokens",
     "train.batch_tokens", kTokensOfAStep},
    {"gradient_accumulation_steps grad_accum grad_accumulation micro_batch_size",
     "train.micro_batch_tokens", "heed splits a step by itself"},
    {"eval_interval eval_steps eval_freq eval_iters valid_freq valid_every validation_freq "
     "validate_interval val_every val_interval val_check_interval eval_strategy",
     "train.eval_every"},
    {"save_interval save_freq save_steps save_strategy checkpoint_interval checkpoint_every",
     "train.save_every"},
    {"log_interval log_freq log_steps logging_steps logging_freq disp_freq print_every",
     "train.log_every"},
    {"early_stopping early_stopping_patience", "train.patience"},
    {"save_total_limit keep_last_ckpts keep_best_ckpts keep_last_epochs max_checkpoints",
     "train.keep_last"},
    {"metric_for_best_model early_stopping_metric best_checkpoint_metric eval_metric",
     "train.select_by"},
    {"ema exponential_smoothing", "train.ema_decay"},
    {"num_workers workers cpu_threads num_threads n_threads", "train.threads"},
    {"random_seed rng_seed", "seed"},
    {"dataset corpus data_path data_dir data_file train_file train_files train_path train_data "
     "train_sets input_file",
     "data.train"},
    {"val dev eval_data valid_file valid_data valid_sets validation_file val_data dev_data",
     "data.valid"},
    {"val_fraction val_split val_ratio valid_split valid_ratio validation_split test_size held_out",
     "data.valid_fraction"},
    {"src src_file train_src", "data.source"},
    {"trg tgt tgt_file train_tgt", "data.target"},
    {"lower lc do_lower_case", "data.lowercase"},
    {"vocab n_vocab voc_size voc_limit vocabulary_size dim_vocabs bpe_size bpe_merges num_merges "
     "n_merges",
     "tokenizer.vocab_size"},
    {"tokenizer_name tokenizer_type tokenization bpe_type level", "tokenizer.type"},
    {"min_freq min_count voc_min_freq", "tokenizer.min_frequency"},
    {"share_vocab shared_vocab joint_vocab joined_dictionary tied_vocab", "tokenizer.shared"},
    {"device devices gpu gpus cuda use_cuda dtype fp16 bf16 amp mixed_precision compile backend",
     "", "heed computes on the CPU in 32 bits, and there is nothing to choose"},
    {"wandb wandb_log use_wandb tensorboard report_to", "",
     "all numbers are in metrics.jsonl of the run, and heed report RUN draws them"},
    {"out_dir output_dir model_dir save_dir", "", "the folder is an option of heed train: --run"},
    {"init_from resume_from pretrained load_model", "",
     "to continue a run: heed resume RUN; to start with its weights: heed train --init-from RUN"},
};

constexpr TradeWord kCommands[] = {
    {"eval test valid validate validation ppl perplexity bleu", "evaluate"},
    {"fit learn pretrain start run", "train"},
    {"finetune fine_tune", "train", "with --init-from RUN"},
    {"continue restart go_on", "resume"},
    {"generate gen complete write predict infer inference chat talk repl", "sample"},
    {"decode decoder trans nmt", "translate"},
    {"logprob logprobs rescore scorer", "score"},
    {"mask unmask mlm fill_mask", "fill"},
    {"encode tokens tokenise bpe spm", "tokenize"},
    {"init_config new create template", "init"},
    {"prepare preprocess binarize vocab", "",
     "there is nothing to prepare: heed train reads the text and learns its tokens"},
    {"attention attn heads heatmap", "attend"},
    {"neighbours similar nearest embed embeddings analogy", "neighbors"},
    {"plot plots html page dashboard visualize visualise tensorboard", "report"},
    {"info show stats summary params weights", "inspect"},
    {"check fsck checksum", "verify"},
    {"grad_check check_gradients", "gradcheck"},
    {"avg ema merge average_checkpoints", "average"},
    {"benchmark speed profile", "bench"},
    {"options defaults schema keys docs", "config"},
    {"tune sweep search", "",
     "try values in a loop: heed train CONFIG --set optimizer.learning_rate=0.002 --run runs/a"},
    {"export convert", "",
     "a checkpoint's model.safetensors has PyTorch's names and shapes and needs no conversion"},
    {"serve server api", "",
     "there is no server, but sample, translate and score read a pipe line by line"},
};

constexpr TradeWord kOptions[] = {
    {"length max_length max_len max_new_tokens n_tokens num_tokens tokens n_predict",
     "--max-tokens"},
    {"n num n_samples samples num_return_sequences count", "--num-samples"},
    {"n num nbest n_best", "--top-k"},
    {"t temp", "--temperature"},
    {"k topk", "--top-k"},
    {"p topp nucleus", "--top-p"},
    {"beam beams num_beams beam_width k", "--beam-size"},
    {"alpha lenpen len_penalty normalize", "--length-penalty"},
    {"prompt start text input_text prefix src source input i", "--prompt --source --input"},
    {"tgt trg ref reference references", "--target"},
    {"test data file input src", "--data --input"},
    {"o out output out_file output_file outfile html save_to dest", "--output --html --export"},
    {"out o output out_dir output_dir model_dir save_dir name", "--run"},
    {"ckpt checkpoint_path epoch step", "--checkpoint"},
    {"model model_dir model_path run run_dir load m", "RUN"},
    {"config c config_file", "CONFIG"},
    {"overwrite f y yes", "--force"},
    {"init pretrained load finetune", "--init-from"},
    {"stop until stop_after", "--stop-at"},
    {"extra additional_steps", "--more"},
    {"j jobs cpus num_threads num_workers", "--threads"},
    {"silent s", "--quiet"},
    {"format jsonl machine", "--json"},
    {"device gpu cuda fp16 bf16 dtype", "", "heed computes on the CPU in 32 bits"},
};

std::string normal(std::string_view word) {
  std::string out(word);
  for (char& ch : out)
    ch = ch == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
  return out;
}

}  // namespace

std::span<const TradeWord> trade_words(Trade kind) {
  if (kind == Trade::key) return kKeys;
  return kind == Trade::command ? std::span<const TradeWord>(kCommands) : kOptions;
}

bool has_word(std::string_view words, std::string_view word) {
  return !word.empty() &&
         (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

const TradeWord* find_trade_word(Trade kind, std::string_view word,
                                 const std::function<bool(const TradeWord&)>& fits) {
  const std::string wanted = normal(word);
  for (const TradeWord& row : trade_words(kind))
    if (has_word(row.words, wanted) && fits(row)) return &row;
  return nullptr;
}

std::string heed_calls_it(const TradeWord& row) {
  if (row.heed.empty()) return fmt::format("; {}.", row.note);
  return fmt::format("; heed calls it {}{}.", row.heed,
                     row.note.empty() ? "" : fmt::format(" ({})", row.note));
}

}  // namespace heed
