#include "base/trade_words.h"

#include <fmt/core.h>

#include <cctype>

namespace heed {
namespace {

// The last part of a key: lr of optimizer.lr.
constexpr TradeWord kKeys[] = {
    {"lr max_lr peak_lr learn_rate", "optimizer.learning_rate"},
    {"min_lr learning_rate_min", "optimizer.min_learning_rate"},
    {"warmup warmup_iters warmup_updates num_warmup_steps lr_warmup", "optimizer.warmup_steps"},
    {"lr_decay_iters", "optimizer.decay_steps"},
    {"scheduler scheduling lr_scheduler lr_scheduler_type lr_decay", "optimizer.schedule"},
    {"grad_clip max_grad_norm clip_grad_norm", "optimizer.clip_norm"},
    {"cooldown cooldown_fraction", "optimizer.decay_fraction", "with optimizer.schedule wsd"},
    {"muon_lr", "optimizer.learning_rate", "one rate serves muon and adamw"},
    {"nesterov ns_steps", "",
     "muon has Nesterov's momentum and five Newton-Schulz steps; sgd has plain momentum"},
    {"beta1 beta2 adam_beta1 adam_beta2 adam_betas", "optimizer.betas", "a list of both"},
    {"epsilon adam_eps adam_epsilon", "optimizer.eps"},
    {"n_embd hidden_size embedding_dim embed_dim dim_emb dim", "model.d_model"},
    {"n_head num_heads heads num_attention_heads transformer_heads", "model.n_heads"},
    {"num_key_value_heads n_kv_head num_kv_heads gqa", "model.n_kv_heads"},
    {"ff_size ffn_dim ffn_embed_dim intermediate_size transformer_dim_ffn", "model.d_ff"},
    {"n_layer n_layers num_layers layers num_hidden_layers", "model.decoder_layers",
     "those of an encoder: model.encoder_layers"},
    {"num_decoder_layers dec_depth", "model.decoder_layers"},
    {"num_encoder_layers enc_depth", "model.encoder_layers"},
    {"position_embedding_type pos_emb positional_encoding", "model.positions"},
    {"rope use_rope rotary", "model.positions", "its value rotary"},
    {"layer_norm norm_first pre_norm normalize_before", "model.norm", "pre or post"},
    {"rmsnorm rms_norm", "model.norm_type", "its value rms"},
    {"swiglu", "model.feed_forward", "its value gated, and model.activation silu"},
    {"act hidden_act activation_fn activation_function", "model.activation"},
    {"resid_pdrop embd_pdrop hidden_dropout_prob transformer_dropout", "model.dropout"},
    {"attn_pdrop attention_probs_dropout_prob", "model.attention_dropout"},
    {"tie_weights tie_word_embeddings tie_embeddings tied_embeddings tied_embeddings_all "
     "tied_softmax share_all_embeddings",
     "model.tie", "all, output or none"},
    {"initializer initializer_range", "model.init", "xavier_uniform or gpt2"},
    {"block_size context context_length n_ctx n_positions seq_len seq_length max_seq_length "
     "max_position_embeddings tokens_per_sample",
     "objective.target_length", "for pairs: data.max_length"},
    {"max_sent_length max_source_positions max_target_positions", "data.max_length"},
    {"mlm_probability mask_prob noise_density", "objective.mask_fraction"},
    {"task arch model_type", "objective.type"},
    {"max_iters iterations steps num_steps max_update updates", "train.max_steps"},
    {"epochs num_epochs num_train_epochs after_epochs", "train.max_epochs"},
    {"batch batch_size mini_batch per_device_train_batch_size max_tokens", "train.batch_tokens",
     "it counts the tokens of a step, that is sequences times their length"},
    {"gradient_accumulation_steps update_freq batch_multiplier", "train.micro_batch_tokens",
     "heed splits a step by itself"},
    {"eval_interval eval_steps valid_freq validation_freq validate_interval", "train.eval_every"},
    {"save_interval save_freq save_steps", "train.save_every"},
    {"log_interval log_freq logging_steps logging_freq disp_freq", "train.log_every"},
    {"early_stopping early_stopping_patience", "train.patience"},
    {"save_total_limit keep_best_ckpts keep_last_epochs", "train.keep_last"},
    {"metric_for_best_model early_stopping_metric best_checkpoint_metric", "train.select_by"},
    {"exponential_smoothing ema", "train.ema_decay"},
    {"num_workers cpu_threads num_threads", "train.threads"},
    {"random_seed", "seed"},
    {"dataset data_path data_dir train_file train_sets", "data.train"},
    {"val dev valid_sets validation_file", "data.valid"},
    {"val_split validation_split test_size", "data.valid_fraction"},
    {"src", "data.source"},
    {"trg tgt", "data.target"},
    {"do_lower_case", "data.lowercase"},
    {"vocab voc_size voc_limit dim_vocabs bpe_merges", "tokenizer.vocab_size"},
    {"level tokenizer_type tokenizer_name bpe_type", "tokenizer.type"},
    {"min_freq voc_min_freq", "tokenizer.min_frequency"},
    {"share_vocab joined_dictionary", "tokenizer.shared"},
    {"device gpu gpus cuda use_cuda dtype fp16 bf16 compile", "",
     "heed computes on the CPU in 32 bits, and there is nothing to choose"},
    {"wandb wandb_log tensorboard report_to", "",
     "all numbers are in metrics.jsonl of the run, and heed report RUN draws them"},
    {"out_dir output_dir model_dir save_dir", "", "the folder is an option of heed train: --run"},
    {"init_from resume_from load_model", "",
     "to continue a run: heed resume RUN; to start with its weights: heed train --init-from RUN"},
};

constexpr TradeWord kValues[] = {
    {"gpt gpt2 clm lm language_modeling", "causal_lm"},
    {"bert roberta mlm", "masked_lm"},
    {"t5", "span_corruption"},
    {"nmt translation", "seq2seq"},
    {"sentencepiece spm wordpiece", "bpe", "or unigram"},
    {"character characters", "char"},
    {"rope", "rotary"},
    {"prenorm pre_norm", "pre"},
    {"postnorm post_norm", "post"},
    {"rmsnorm rms_norm", "rms"},
    {"rmsnorm rms_norm rms", "", "that is model.norm_type rms"},
    {"swiglu", "gated", "and model.activation silu"},
    {"swiglu", "silu", "and model.feed_forward gated"},
    {"geglu", "gated", "and model.activation gelu"},
    {"geglu", "gelu", "and model.feed_forward gated"},
    {"glu", "gated"},
    {"swish", "silu"},
    {"gelu_new gelu_fast gelu_pytorch_tanh", "gelu_tanh"},
    {"normal", "gpt2"},
    {"xavier glorot", "xavier_uniform"},
    {"adamw_torch", "adamw"},
    {"cosine_with_warmup", "cosine", "and optimizer.warmup_steps"},
    {"linear_with_warmup polynomial_decay", "linear", "and optimizer.warmup_steps"},
    {"constant_with_warmup", "constant", "and optimizer.warmup_steps"},
    {"warmupinversesquareroot", "inverse_sqrt"},
    {"warmup_stable_decay trapezoidal trapezoid", "wsd"},
    {"ppl perplexity", "loss"},
};

constexpr TradeWord kCommands[] = {
    {"eval test valid validate ppl bleu", "evaluate"},
    {"fit learn pretrain finetune", "train"},
    {"continue", "resume"},
    {"branch fork", "resume", "its option --branch DIR"},
    {"generate predict infer interactive chat", "sample"},
    {"decode decoder", "translate"},
    {"rescore scorer", "score"},
    {"unmask mlm fill_mask", "fill"},
    {"encode spm", "tokenize"},
    {"prepare preprocess vocab", "", "heed train reads the text itself and learns its tokens"},
    {"attention", "attend"},
    {"plot tensorboard", "report"},
    {"info show stats", "inspect"},
    {"average_checkpoints", "average"},
    {"benchmark profile", "bench"},
    {"options docs", "config"},
    {"export convert", "",
     "a checkpoint's model.safetensors has PyTorch's names and shapes and needs no conversion"},
    {"serve server", "", "sample, translate and score read a pipe line by line"},
};

constexpr TradeWord kOptions[] = {
    {"length max_length max_len max_new_tokens num_tokens", "--max-tokens"},
    {"n num n_samples num_return_sequences", "--num-samples"},
    {"n num n_best nbest", "--top-k"},
    {"t temp", "--temperature"},
    {"beam num_beams k", "--beam-size"},
    {"p nucleus", "--top-p"},
    {"alpha lenpen normalize", "--length-penalty"},
    {"source", "--side", "source or target"},
    {"prompt start text src source", "TEXT", "or the lines of a file: --file FILE"},
    {"prompt_file input data test source src i", "--file"},
    {"tgt trg ref reference", "--target --target-file"},
    {"o out output output_file html", "--html --output --export"},
    {"o out output out_dir output_dir model_dir save_dir name", "--run"},
    {"ckpt epoch step", "--checkpoint"},
    {"model model_dir model_path run m", "RUN"},
    {"config c", "CONFIG"},
    {"overwrite f y", "--force"},
    {"pretrained load finetune", "--init-from"},
    {"j jobs num_threads", "--threads"},
    {"device gpu cuda fp16 bf16 dtype", "", "heed computes on the CPU in 32 bits"},
};

std::string normal(std::string_view word) {
  std::string out(word);
  for (char& ch : out)
    ch = ch == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
  return out;
}

// Is it among these words, which are separated by spaces?
bool has_word(std::string_view words, std::string_view word) {
  return !word.empty() &&
         (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

std::span<const TradeWord> trade_words(Trade kind) {
  static constexpr std::span<const TradeWord> kTables[] = {kKeys, kValues, kCommands, kOptions};
  return kTables[static_cast<int>(kind)];
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
