// The whole algorithm on five pages: a transformer that reads a line and writes its answer, and how
// it learns to. C++ alone, without any library:
//
//   g++ -std=c++20 -O2 examples/micro.cpp -o micro
//   ./micro                    learns for a minute of CPU time to write rows of digits backwards
//   ./micro 20                 for so many seconds
//   ./micro 60 pairs.tsv       your lines: a source, a tab, its target
//
// Each layer is a struct: its weights; forward() under its formula; and backward(), which turns the
// gradient of what came out (dy is dL/dy) into that of what went in (dx), and adds to those of the
// weights. A row of a matrix is a token, a column one of the d numbers that stand for it. Read from
// the top: matrices, layers, the model and how it is updated, lines and answers. heed computes the
// same with batches, many threads and fast products; tests/nn/micro_test.cpp compares the two,
// gradient by gradient.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <deque>
#include <fstream>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using std::string, std::vector;

// d, heads, the inner layer of a feed-forward network, layers on each side, different tokens
constexpr int kD = 32, kHeads = 4, kInner = 64, kLayers = 1, kVocabulary = 256;
constexpr double kRate = 4e-3, kBeta1 = 0.9, kBeta2 = 0.98, kEps = 1e-9, kDecay = 0.01;
constexpr int kLinesPerStep = 16, kHeldOut = 100;
using Token = unsigned char;          // a token is a byte
constexpr char kBegin = 1, kEnd = 2;  // two bytes that stand for <s> and </s>

// ---- Matrices -----------------------------------------------------------------------------------

struct Mat {
  int rows, cols;
  vector<double> x;
  Mat(int r = 0, int c = 0) : rows(r), cols(c), x(size_t(r) * c) {}
  double* operator[](int r) { return x.data() + size_t(r) * cols; }
  const double* operator[](int r) const { return x.data() + size_t(r) * cols; }
};

// (A B)_rc = sum_i A_ri B_ic
Mat operator*(const Mat& a, const Mat& b) {
  Mat y(a.rows, b.cols);
  for (int r = 0; r < a.rows; ++r)
    for (int i = 0; i < a.cols; ++i)
      for (int c = 0; c < b.cols; ++c) y[r][c] += a[r][i] * b[i][c];
  return y;
}
// Aᵀ
Mat t(const Mat& a) {
  Mat y(a.cols, a.rows);
  for (int r = 0; r < a.rows; ++r)
    for (int c = 0; c < a.cols; ++c) y[c][r] = a[r][c];
  return y;
}
Mat& operator+=(Mat& a, const Mat& b) {
  for (size_t i = 0; i < a.x.size(); ++i) a.x[i] += b.x[i];
  return a;
}

// What is learnt: numbers, their gradient, and for AdamW the averages of gradients (first) and of
// their squares (second).
struct Weight {
  string name;
  Mat w, gradient, first, second;
};
std::deque<Weight> weights;  // all of them; a deque moves none
std::mt19937 dice(1);

// Matrices are drawn; 1 / sqrt(columns) keeps what comes out of one as large as what goes in. Gains
// of norms begin as 1.
Weight* make_weight(const string& name, int rows, int cols) {
  const Mat zeros(rows, cols);
  weights.push_back({name, zeros, zeros, zeros, zeros});
  std::normal_distribution<double> draw(0, 1 / std::sqrt(cols));
  for (double& number : weights.back().w.x) number = rows > 1 ? draw(dice) : 1;
  return &weights.back();
}

// ---- Layers -------------------------------------------------------------------------------------

// y = x Wᵀ          W [out, in]
struct Linear {
  string name;
  int in, out;
  Weight* w = make_weight(name + ".weight", out, in);
  Mat x = {};  // what went in, kept for backward
  Mat forward(const Mat& read) {
    x = read;
    return x * t(w->w);
  }
  // dW += dyᵀ x,   dx = dy W
  Mat backward(const Mat& dy) {
    w->gradient += t(dy) * x;
    return dy * w->w;
  }
};

// RMSNorm (Zhang and Sennrich 2019), in each row:
//   s = sqrt(mean(x²) + 1e-5),   n = x / s,   y = gain n
struct Norm {
  string name;
  Weight* gain = make_weight(name + ".weight", 1, kD);
  Mat x = {};
  double s_of(int r) const {
    return std::sqrt(std::inner_product(x[r], x[r] + kD, x[r], 0.0) / kD + 1e-5);
  }
  Mat forward(const Mat& read) {
    Mat y = x = read;
    for (int r = 0; r < x.rows; ++r)
      for (int c = 0; c < kD; ++c) y[r][c] = gain->w[0][c] * x[r][c] / s_of(r);
    return y;
  }
  // g = gain dy,   dx = (g - n mean(g n)) / s:   each x changes the s of its row, too.
  // So dx is at right angles to x (but for the 1e-5): a longer x would give the same y.
  Mat backward(const Mat& dy) {
    Mat dx(dy.rows, kD);
    for (int r = 0; r < dy.rows; ++r) {
      const double s = s_of(r);
      double mean = 0;
      for (int c = 0; c < kD; ++c) {
        gain->gradient[0][c] += dy[r][c] * x[r][c] / s;
        mean += gain->w[0][c] * dy[r][c] * x[r][c] / s / kD;
      }
      for (int c = 0; c < kD; ++c) dx[r][c] = (gain->w[0][c] * dy[r][c] - x[r][c] / s * mean) / s;
    }
    return dx;
  }
};

// Scores become shares, in place:  p_j = exp(z_j) / sum_k exp(z_k).  The largest z is taken off all
// of them first: that changes no share, and exp cannot overflow.
void softmax(Mat& scores) {
  for (int r = 0; r < scores.rows; ++r) {
    double *z = scores[r], *end = z + scores.cols, most = *std::max_element(z, end), sum = 0;
    for (double* j = z; j < end; ++j) sum += (*j = std::exp(*j - most));
    for (double* j = z; j < end; ++j) *j /= sum;
  }
}

// The columns of a head, and back.
constexpr int kWide = kD / kHeads;
Mat part_of(const Mat& all, int head) {
  Mat part(all.rows, kWide);
  for (int r = 0; r < all.rows; ++r) std::copy_n(all[r] + head * kWide, kWide, part[r]);
  return part;
}
void put_part(Mat& all, int head, const Mat& part) {
  for (int r = 0; r < all.rows; ++r) std::copy_n(part[r], kWide, all[r] + head * kWide);
}

// Attention: a row of x asks (Q), rows of the memory answer (K) and give (V). In each head:
//   S = Q Kᵀ / sqrt(d_head),   P = softmax of S's rows,   Z = P V;    at the end y = Z W_outᵀ
// In self-attention the memory is x itself. Causal: no row sees those after it, P = 0 there.
// Without the division scores would grow with d_head; then shares are near 0 and 1, and their
// gradient vanishes (dS below has the factor P).
struct Attention {
  string name;
  bool causal;
  Linear query{name + ".q_proj", kD, kD}, key{name + ".k_proj", kD, kD};
  Linear value{name + ".v_proj", kD, kD}, out{name + ".out_proj", kD, kD};
  Mat q = {}, k = {}, v = {};
  vector<Mat> p = {};  // of each head [rows of x, rows of the memory]
  Mat forward(const Mat& x, const Mat& memory) {
    q = query.forward(x), k = key.forward(memory), v = value.forward(memory);
    p.clear();
    Mat z(x.rows, kD);
    for (int h = 0; h < kHeads; ++h) {
      Mat shares = part_of(q, h) * t(part_of(k, h));
      for (double& s : shares.x) s /= std::sqrt(kWide);
      for (int r = 0; causal && r < x.rows; ++r)
        std::fill(shares[r] + r + 1, shares[r] + k.rows, -INFINITY);
      softmax(shares);
      put_part(z, h, shares * part_of(v, h));
      p.push_back(shares);
    }
    return out.forward(z);
  }
  // dV = Pᵀ dZ,   dP = dZ Vᵀ,   dS = P (dP - sum of P dP over the row),
  // dQ = dS K / sqrt(d_head),   dK = dSᵀ Q / sqrt(d_head);   where P is 0, dS is 0. Then W_Q, W_K
  // and W_V learn as every Linear does. Adds to dmemory, returns dx.
  Mat backward(const Mat& dy, Mat& dmemory) {
    const Mat dz = out.backward(dy);
    Mat dq(q.rows, kD), dk(k.rows, kD), dv(k.rows, kD);
    for (int h = 0; h < kHeads; ++h) {
      const Mat dz_h = part_of(dz, h);
      Mat ds = dz_h * t(part_of(v, h));  // dP; below dS / sqrt(d_head)
      for (int r = 0; r < ds.rows; ++r) {
        const double sum = std::inner_product(ds[r], ds[r] + ds.cols, p[h][r], 0.0);
        for (int j = 0; j < ds.cols; ++j)
          ds[r][j] = p[h][r][j] * (ds[r][j] - sum) / std::sqrt(kWide);
      }
      put_part(dq, h, ds * part_of(k, h));
      put_part(dk, h, t(ds) * part_of(q, h));
      put_part(dv, h, t(p[h]) * dz_h);
    }
    dmemory += key.backward(dk);
    dmemory += value.backward(dv);
    return query.backward(dq);
  }
};

// x += attention(norm(x));   in a decoder x += cross(norm(x), memory);   then the feed-forward
// network, for each row alone: x += max(0, norm(x) W_1ᵀ) W_2ᵀ.  Gradients pass a sum unchanged, so
// each part only adds its own to them; they pass max(0, a) where a is above 0.
struct Block {
  string name;
  bool decoder;
  Norm self_norm{name + ".self_attn_norm"}, ffn_norm{name + ".ffn_norm"};
  Attention self{name + ".self_attn", decoder};
  Linear up{name + ".fc1", kD, kInner}, down{name + ".fc2", kInner, kD};
  vector<Norm> cross_norm = {};  // one in a decoder, as its cross-attention
  vector<Attention> cross = {};
  Mat forward(Mat x, const Mat& memory) {
    const Mat n = self_norm.forward(x);
    x += self.forward(n, n);
    for (Attention& a : cross) x += a.forward(cross_norm[0].forward(x), memory);
    Mat inner = up.forward(ffn_norm.forward(x));
    for (double& a : inner.x) a = std::max(0.0, a);
    return x += down.forward(inner);
  }
  Mat backward(Mat d, Mat& dmemory) {
    Mat inner = down.backward(d);
    for (size_t i = 0; i < inner.x.size(); ++i) inner.x[i] *= down.x.x[i] > 0;
    d += ffn_norm.backward(up.backward(inner));
    for (Attention& a : cross) d += cross_norm[0].backward(a.backward(d, dmemory));
    Mat dkeys(d.rows, kD), dn = self.backward(d, dkeys);
    return d += self_norm.backward(dn += dkeys);
  }
};

// x = sqrt(d) E[id] + position:   sin(p / 10000^(c/d)) in the even columns c, cos of it in the
// next. All else treats rows alike: without positions a shuffled source would give the same answer.
struct Embedding {
  string name;
  Weight* table = make_weight(name + ".weight", kVocabulary, kD);
  string ids = {};
  Mat forward(const string& read) {
    ids = read;
    Mat x(int(ids.size()), kD);
    for (int p = 0; p < x.rows; ++p)
      for (int c = 0; c < kD; ++c) {
        const double angle = p * std::pow(10000.0, -double(c - c % 2) / kD);
        x[p][c] = std::sqrt(kD) * table->w[Token(ids[p])][c] +
                  (c % 2 ? std::cos(angle) : std::sin(angle));
      }
    return x;
  }
  void backward(const Mat& d) {
    for (int p = 0; p < d.rows; ++p)
      for (int c = 0; c < kD; ++c) table->gradient[Token(ids[p])][c] += std::sqrt(kD) * d[p][c];
  }
};

// ---- The model ----------------------------------------------------------------------------------

// A stack of blocks, and a norm at its end.
struct Stack {
  Embedding embedding;
  Norm norm;
  vector<Block> blocks = {};
  Stack(const string& name, const string& side) : embedding{side + "_embed"}, norm{name + ".norm"} {
    for (int i = 0; i < kLayers; ++i) {
      const string layer = name + ".layers." + std::to_string(i);
      blocks.push_back({layer, name == "decoder"});
      if (name == "encoder") continue;
      blocks[i].cross_norm.push_back({layer + ".cross_attn_norm"});
      blocks[i].cross.push_back({layer + ".cross_attn", false});
    }
  }
  Mat forward(const string& ids, const Mat& memory) {
    Mat x = embedding.forward(ids);
    for (Block& block : blocks) x = block.forward(x, memory);
    return norm.forward(x);
  }
  void backward(const Mat& dy, Mat& dmemory) {
    Mat d = norm.backward(dy);
    for (size_t i = blocks.size(); i-- > 0;) d = blocks[i].backward(d, dmemory);
    embedding.backward(d);
  }
};

// memory = encoder(source),   logits = decoder(target, memory) W_outᵀ
struct Model {
  Stack encoder{"encoder", "source"}, decoder{"decoder", "target"};
  Linear output{"lm_head", kD, kVocabulary};

  // Adds the gradients of one line. Its loss is the sum of -log p(y) over the tokens y of its
  // target; `scale` is 1 / the tokens of the whole step. Softmax and log together have a simple
  // gradient:
  //   p = softmax(logits),   dlogits = p, less 1 at the right token (they sum to 0)
  // The decoder reads the target one place late. Otherwise a row would read the very token that it
  // is to write, and would learn only to copy it.
  double learn(const string& source, const string& target, double scale) {
    const Mat memory = encoder.forward(source + kEnd, {});
    const string expected = target + kEnd;  // where it reads <s> a b, it is to write a b </s>
    Mat z = output.forward(decoder.forward(kBegin + target, memory)), dmemory(memory.rows, kD);
    double loss = 0;
    softmax(z);
    for (int r = 0; r < z.rows; ++r) {
      loss -= std::log(z[r][Token(expected[r])]);
      z[r][Token(expected[r])] -= 1;
    }
    for (double& d : z.x) d *= scale;
    decoder.backward(output.backward(z), dmemory);
    encoder.backward(dmemory,
                     dmemory);  // each decoder block has added to it; (the second is unused)
    return loss;
  }

  // The most probable token, again and again, until </s>, or until there are `most`.
  string write(const string& source, size_t most) {
    const Mat memory = encoder.forward(source + kEnd, {});
    string out;
    for (char next = 0; next != kEnd && out.size() < most; out += next) {
      const Mat z = output.forward(decoder.forward(kBegin + out, memory));
      next = char(std::max_element(z[z.rows - 1], z[z.rows]) - z[z.rows - 1]);
    }
    return out.substr(0, out.find(kEnd));
  }
};

// AdamW (Loshchilov and Hutter 2019) in step n = 1, 2, ..., for each number w with the gradient g:
//   m = b1 m + (1 - b1) g,   v = b2 v + (1 - b2) g²,   w -= rate decay w  (matrices only)
//   w -= rate (m / (1 - b1^n)) / (sqrt(v / (1 - b2^n)) + eps)
void update(int n) {
  const double of_m = 1 - std::pow(kBeta1, n), of_v = 1 - std::pow(kBeta2, n);
  for (Weight& weight : weights)
    for (size_t i = 0; i < weight.w.x.size(); ++i) {
      double &w = weight.w.x[i], &g = weight.gradient.x[i];
      double &m = weight.first.x[i], &v = weight.second.x[i];
      m = kBeta1 * m + (1 - kBeta1) * g;
      v = kBeta2 * v + (1 - kBeta2) * g * g;
      if (weight.w.rows > 1) w -= kRate * kDecay * w;
      w -= kRate * (m / of_m) / (std::sqrt(v / of_v) + kEps);
      g = 0;
    }
}

// ---- Lines, training, answers -------------------------------------------------------------------

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::stod(argv[1]) : 60;
  std::set<std::pair<string, string>> pairs;
  std::ifstream file(argc > 2 ? argv[2] : "");
  for (string line; std::getline(file, line);)
    if (const size_t tab = line.find('\t'); tab < line.size())
      pairs.insert({line.substr(0, tab), line.substr(tab + 1)});
  while (argc < 3 && pairs.size() < 5000) {
    string digits;
    for (int more = 2 + int(dice() % 5); more > 0; --more) digits += char('0' + dice() % 10);
    pairs.insert({digits, string(digits.rbegin(), digits.rend())});
  }
  if (pairs.size() < 2 * kHeldOut) return std::puts("needs 200 lines: source, tab, target"), 1;
  vector<std::pair<string, string>> lines(pairs.begin(), pairs.end());
  std::shuffle(lines.begin(), lines.end(), dice);

  Model model;
  for (int n = 1; double(std::clock()) / CLOCKS_PER_SEC < seconds; ++n) {
    vector<size_t> batch(kLinesPerStep);
    double tokens = 0, loss = 0;
    for (size_t& line : batch) {
      line = kHeldOut + dice() % (lines.size() - kHeldOut);  // the first are never learnt from
      tokens += double(lines[line].second.size() + 1);
    }
    for (const size_t i : batch) loss += model.learn(lines[i].first, lines[i].second, 1 / tokens);
    update(n);
    if (n % 100 == 0) std::printf("step %d: loss %.4f\n", n, loss / tokens);
  }
  int right = 0;
  for (int i = 0; i < kHeldOut; ++i) {
    const auto& [source, target] = lines[i];
    const string written = model.write(source, target.size() + 1);
    right += written == target;
    if (i < 5) std::printf("%s -> %s\n", source.c_str(), written.c_str());
  }
  return std::printf("%d of %d lines that it never read are right\n", right, kHeldOut) < 0;
}
