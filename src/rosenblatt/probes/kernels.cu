// Very many perceptrons on one matrix, with the bits of the library's loop. The page docs/understand/probes_on_a_gpu.md
// derives the algorithm and its bound; tests/oracles/blocked.py says the same in plain Python.
//
// Macros, set where the file is compiled: KIND, the values of X (0 float64, 1 float32, 2 float16, 3 bfloat16, 4 uint8);
// WHOLE, all numbers are whole and small, so that every sum is exact; AVERAGE, sums for averages are kept; JUDGE, rows
// are judged and nothing moves; WARPS of a problem in `walk`, and its PROBLEMS and CTAS; and of `update_tiles` a grid of
// PW x FW warps, each of MT x NT tiles of 16 problems x 8 features.
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef long long i64;
#define FULL 0xffffffffu
#define B 256            // rows of a block
#define NB (B / 32)      // and its chunks: words of bits
#define COARSE (WHOLE ? 0 : 6)  // inside a chunk, scores are kept in units 2^COARSE times as large
#if WHOLE
typedef i64 Near;
#else
typedef int Near;
#endif

__device__ __forceinline__ double sum_warp(double v) {
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  return v;
}

__device__ __forceinline__ double widen(const void* x, i64 at) {
#if KIND == 0
  return ((const double*)x)[at];
#elif KIND == 1
  return ((const float*)x)[at];
#elif KIND == 2
  float f;
  asm("{ .reg .b16 t; mov.b16 t, %1; cvt.f32.f16 %0, t; }" : "=f"(f) : "h"(((const u16*)x)[at]));
  return f;
#elif KIND == 3
  return __uint_as_float((u32)((const u16*)x)[at] << 16);
#else
  return ((const unsigned char*)x)[at];
#endif
}

// A warp widens a row and measures it: norm >= |(x, 1)|, and the length of its step. Rows behind the last are zero.
// `broken` becomes the first visit whose row has a value that is not finite; such a row counts as zeros.
extern "C" __global__ void prepare(const u64* parts, const i64* starts, int n_parts, const i64* order, const double* weight,
                                   i64 first, i64 n, int d, int dp, int gathered, double eta, double visits, double* X,
                                   double* norm, double* inverse, double* step, double* clock, i64* broken) {
  const int lane = threadIdx.x & 31, r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  const i64 t = first + r;
  if (r == 0 && lane == 0) *clock = visits + (double)first;
  double* to = X + (i64)r * dp;
  if (t >= n) {
    for (int j = lane; j < dp; j += 32) to[j] = 0.0;
    if (lane == 0) norm[r] = inverse[r] = 1.0, step[r] = 0.0;
    return;
  }
  const i64 row = order ? order[t] : t, place = gathered ? r : row;
  int part = 0;
  while (part + 1 < n_parts && place >= starts[part + 1]) part++;
  const void* from = (const void*)parts[part];
  const i64 at = (place - starts[part]) * d;
  double square = 0.0;
  bool finite = true;
#pragma unroll 8
  for (int j = lane; j < d; j += 32) {
    const double x = widen(from, at + j);
    finite = finite && x - x == 0.0;
    square = fma(x, x, square);
    to[j] = x;
  }
  for (int j = d + lane; j < dp; j += 32) to[j] = 0.0;
  square = sum_warp(square);
  if (!__all_sync(FULL, finite)) {
    for (int j = lane; j < d; j += 32) to[j] = 0.0;
    if (lane == 0) atomicMin(broken, t);
    square = 0.0;
  }
  if (lane) return;
  double length = sqrt(square + 1.0) * (1.0 + 1e-12 + 1e-16 * d);
  if (!(length < 1e150)) length = __longlong_as_double(0x7ff0000000000000ll);  // nothing is sure of such rows
  norm[r] = length;
  inverse[r] = WHOLE ? 1.0 : 1.0 / length;
  step[r] = weight ? eta * weight[row] : eta;
}

// The labels of 32 visits in a problem, as bits: `up` is +1, `in` takes part. Words of problems lie side by side. `seen`
// counts rows that are judged.
extern "C" __global__ void label(const i8* labels, i64 columns, const i64* column, const i8* fold, const i8* left_out,
                                 const double* weight, const i64* order, i64 first, i64 n, int k, u32* up, u32* in,
                                 u32* seen) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= k) return;
  const i64 c = column[p];  // -1: the problem rests
  const int mine = fold ? left_out[p] : -1;
  u32 plus = 0, part = 0;
  for (int i = 0; i < 32; i++) {
    const i64 t = first + 32 * blockIdx.y + i;
    if (t >= n || c < 0) break;
    const i64 row = order ? order[t] : t;
    const int y = labels[row * columns + c];
    const bool apart = mine >= 0 && (fold[row] == mine) != JUDGE;
    if (y == 0 || apart || (!JUDGE && weight && weight[row] == 0.0)) continue;
    part |= 1u << i;
    plus |= (u32)(y > 0) << i;
  }
  up[(i64)blockIdx.y * k + p] = plus;
  in[(i64)blockIdx.y * k + p] = part;
  if (JUDGE) atomicAdd(seen + p, __popc(part));
}

// step_i (<x_i, x_r> + beta) / norm_r in fixed point: int32 in units of 2^-shift, the same for a block. A block has
// B + 1 rows, the last one zero. `near` has for each row its own chunk of 32 columns, in coarse units, and the next one.
extern "C" __global__ void quantise(const double* gram, int* far, int* near, int* shift, double* drift, const double* norm,
                                    const double* inverse, const double* step, double beta) {
  __shared__ double tops[32], sums[32];
  const int lane = threadIdx.x & 31, per = 16, block = blockIdx.x / per, part = blockIdx.x % per;
  const double growth = fmax(1.0, beta);
  double top = 0.0, sum = 0.0;
  for (int r = threadIdx.x; r < B; r += blockDim.x) {
    const double reach = step[block * B + r] * norm[block * B + r] * growth;
    if (step[block * B + r] > 0.0) top = fmax(top, reach), sum += reach;
  }
  for (int o = 16; o; o >>= 1) top = fmax(top, __shfl_xor_sync(FULL, top, o));
  sum = sum_warp(sum);
  if (lane == 0) tops[threadIdx.x >> 5] = top, sums[threadIdx.x >> 5] = sum;
  __syncthreads();
  top = sum = 0.0;
  for (int i = 0; i < (int)(blockDim.x >> 5); i++) top = fmax(top, tops[i]), sum += sums[i];
  const bool usual = top > 1e-200 && top < 1e200;
  const int up = WHOLE ? 0 : usual ? 29 - ilogb(top * 1.001) : top < 1.0 ? 600 : -600;
  if (part == 0 && threadIdx.x == 0) shift[block] = up, drift[block] = sum * (1.0 + 1e-12);
  const double unit = ldexp(1.0, up);
  for (int at = part * blockDim.x + threadIdx.x; at < B * B; at += per * blockDim.x) {
    const int i = at / B, r = at % B, ahead = r / 32 - i / 32;
    if (ahead < 0) continue;
    double g = (gram[(i64)block * B * B + at] + beta) * (step[block * B + i] * unit * inverse[block * B + r]);
    if (!(fabs(g) < 2147483647.0)) g = 0.0;  // of rows so long that nothing is sure of their block
    const int v = __double2int_rn(g);
    far[((i64)block * (B + 1) + i) * B + r] = v;
    int* close = near + ((i64)block * B + i) * 64 + (r & 31);
    if (ahead == 0) close[0] = __double2int_rn(g * (1.0 / (1 << COARSE)));
    if (ahead == 1) close[32] = v;
  }
}

// Few problems: a warp scores a row, in any order of additions.
extern "C" __global__ void score_few(const double* W, const double* X, double* S, int k, int d, int dp) {
  const int lane = threadIdx.x & 31, r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  for (int p = 0; p < k; p++) {
    double f = 0.0;
#pragma unroll 8
    for (int j = lane; j < d; j += 32) f = fma(W[(i64)p * dp + j], X[(i64)r * dp + j], f);
    f = sum_warp(f);
    if (lane == 0) S[(i64)p * B + r] = f;
  }
}

// A mistake: B times its row, which is its place in `far`, and the sign of its step; 0 fills up to whole eights.
typedef int2 Mistake;

struct Block {  // what a warp needs to compute a score as the loop does
  const double *X, *step, *w;
  double bias, beta;
  int d, dp;
};

// The weight j after the mistakes, added one after another.
__device__ __forceinline__ double rebuilt(const Block& a, const Mistake* done, int m, int j) {
  double w = a.w[j];
#pragma unroll 4
  for (int e = 0; e < m; e++) {
    const int row = done[e].x / B, y = done[e].y;
    if (y) w = __dadd_rn(w, __dmul_rn(y < 0 ? -a.step[row] : a.step[row], a.X[(i64)row * a.dp + j]));
  }
  return w;
}

// The score of row r as the loop computes it: 32 lanes of fused sums, 8 lanes, one by one, and the bias.
__device__ __noinline__ double exact_score(const Block& a, const Mistake* done, int m, int r) {
  const int lane = threadIdx.x & 31, wide = a.d & ~31, narrow = a.d & ~7;
  const double* x = a.X + (i64)r * a.dp;
  double sum = 0.0, rest = 0.0, b = a.bias;
#pragma unroll 4
  for (int j = lane; j < wide; j += 32) sum = __fma_rn(rebuilt(a, done, m, j), x[j], sum);
  for (int o = 16; o; o >>= 1) sum = __dadd_rn(sum, __shfl_down_sync(FULL, sum, o));
  for (int j = wide + (lane & 7); j < narrow; j += 8) rest = __fma_rn(rebuilt(a, done, m, j), x[j], rest);
  for (int o = 4; o; o >>= 1) rest = __dadd_rn(rest, __shfl_down_sync(FULL, rest, o));
  double f = __dadd_rn(__shfl_sync(FULL, sum, 0), __shfl_sync(FULL, rest, 0));
  for (int j = narrow; j < a.d; j++) f = __dadd_rn(f, __dmul_rn(rebuilt(a, done, m, j), x[j]));
  for (int e = 0; e < m; e++) {
    const int y = done[e].y;
    const double c = a.step[y ? done[e].x / B : 0];
    if (y) b = __dadd_rn(b, __dmul_rn(y < 0 ? -c : c, a.beta));
  }
  return __dadd_rn(f, b);
}

// z += what K mistakes add to the score of a column.
template <int K> __device__ __forceinline__ void catch_up(i64& z, const int* column, const Mistake* done) {
  int g[K], c[K];
#pragma unroll
  for (int u = 0; u < K; u += 2) {
    const int4 two = *(const int4*)(done + u);
    g[u] = column[two.x], c[u] = two.y, g[u + 1] = column[two.z], c[u + 1] = two.w;
  }
  i64 other = 0;
#pragma unroll
  for (int u = 0; u < K; u += 2) z += (i64)g[u] * c[u], other += (i64)g[u + 1] * c[u + 1];
  z += other;
}

// Copies by the bulk engine of compute capability 9; elsewhere by the threads, before anything else.
#if __CUDA_ARCH__ >= 900 && !defined(PLAIN_COPIES)
#define BULK 1
__device__ __forceinline__ void expect(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk(u32 to, const void* from, u32 bytes, u32 bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
}
__device__ __forceinline__ void await(u32 bar) {
  u32 done;
  do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                  : "=r"(done) : "r"(bar), "r"(0) : "memory");
  while (!done);
}
#else
#define BULK 0
__device__ __forceinline__ void await(u32) {}
#endif

struct __align__(16) Shared {  // of a problem
  i64 ahead[32];  // what the mistakes of the chunk just walked add to the next one
  Mistake done[B + B / 4];
  int slots, count;
};

// Walk the rows of a block in order, for each problem by WARPS warps. Warp w owns the chunks w, w + WARPS, ...: it adds
// to their scores what known mistakes change, and when their turn comes, decides them row after row.
extern "C" __global__ void __launch_bounds__(32 * WARPS * PROBLEMS < 128 ? 128 : 32 * WARPS * PROBLEMS, CTAS)
walk(const double* S, const u32* up_words, const u32* in_words, int stride, const int* far, const int* near_,
     const int* shift, const double* drift_, const double* norm, const double* inverse_, const double* step,
     const double* X, const double* W, const double* bias, double* potential, u32* made_words, u32* mistakes,
     u32* exacts, const double* clock, int block, i64* overflow, double beta, double margin, int tie_plus, int tie_minus,
     double error, int k, int d, int dp) {
  extern __shared__ __align__(16) unsigned char memory[];
  int* near = (int*)memory;
  double* inverse = (double*)(near + B * 64);
  i64* bars = (i64*)(inverse + B);
  Shared* shared = (Shared*)(bars + NB);
  const u32 near_at = (u32)__cvta_generic_to_shared(near), bar_at = (u32)__cvta_generic_to_shared(bars);
#if BULK
  if (threadIdx.x == 0) {
    for (int q = 0; q < NB; q++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar_at + 8 * q));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int q = 0; q < NB; q++) {
      expect(bar_at + 8 * q, 8192 + (q ? 0 : 8 * B));
      if (q == 0) bulk(near_at + B * 256, inverse_, 8 * B, bar_at);
      bulk(near_at + 8192 * q, near_ + 2048 * q, 8192, bar_at + 8 * q);
    }
  }
#else
  for (int i = threadIdx.x; i < B * 64; i += blockDim.x) near[i] = near_[i];
  for (int i = threadIdx.x; i < B; i += blockDim.x) inverse[i] = inverse_[i];
#endif
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, own = warp / WARPS, w = warp % WARPS;
  const int p = blockIdx.x * PROBLEMS + own;
  const bool works = own < PROBLEMS && p < k;
  const i64 at = (i64)p * B + lane;
  u32 up_word = 0, in_word = 0;
  double b = 0.0, square = 0.0, next = 0.0;
  if (works) {
    if (lane < NB) up_word = up_words[(i64)lane * stride + p], in_word = in_words[(i64)lane * stride + p];
    next = S[at + 32 * w];
    b = bias[p];
    square = potential[p];
  }
  const int up_shift = *shift;
  const double drift = JUDGE ? 0.0 : *drift_;
  __syncthreads();
  if (!works) return;
  Shared* const mine = shared + own;
  Mistake* const done = mine->done;
  const Block exact = {X, step, W + (i64)p * dp, b, beta, d, dp};
  // The bound of the page: |score here - score of the loop| <= norm (slack units), for the score divided by the norm.
  const double A = sqrt(square * fmax(1.0, beta)) * (1.0 + 1e-6), reach = A + drift;
  const double unit = ldexp(1.0, !JUDGE ? up_shift : reach > 1e-200 && reach < 1e150 ? 55 - ilogb(reach) : 0);
  const double T = error * reach + 1e-290;
  const bool fits = (reach + fabs(margin)) * unit < 1e18;
  const i64 slack = fits ? __double2ll_ru(T * unit * (1.0 + 1e-9)) + B / 2 + 3 : 0x7fffffffffffffffll;
  const u32 row_at = near_at + 4u * lane;
  int slots = 0, before = 0, count = 0, applied = 0, chunk = w;
  u32 decided = 0;
  i64 z = 0;
  bool fresh = true;
  await(bar_at);
#pragma unroll 1
  for (int q = 0; q < NB; q++) {
    if (fresh && chunk < NB) {  // a new chunk to own: its scores by the weights at the start of the block
      const double scaled = (next + b) * (unit * inverse[32 * chunk + lane]);
      z = !JUDGE || scaled - scaled == 0.0 ? __double2ll_rn(scaled) : 0;  // in training all of such a block is in doubt
      fresh = false;
      if (chunk + WARPS < NB) next = S[at + 32 * (chunk + WARPS)];
    }
    const int until = q == chunk ? (WARPS == 1 ? before : applied) : slots;
    if (chunk < NB) {
      const int* column = far + 32 * chunk + lane;
#pragma unroll 1
      for (; applied + 16 <= until; applied += 16) catch_up<16>(z, column, done + applied);
#pragma unroll 1
      for (; applied < until; applied += 8) catch_up<8>(z, column, done + applied);
    }
    if (q == chunk) {
      if (q) z += mine->ahead[lane];
      await(bar_at + 8 * q);
      const int r = 32 * q + lane;
      const u32 up = __shfl_sync(FULL, up_word, q), in = __shfl_sync(FULL, in_word, q);
      const bool plus = (up >> lane) & 1;
      const int y = plus ? 1 : -1;
      const i64 edge = margin == 0.0 || !fits ? 0 : __double2ll_rn(margin * (unit * inverse[r]));
      const i64 fine = (plus ? z : -z) - edge;  // y f - margin
#if WHOLE
      Near score = fine;
      const Near low = plus ? tie_plus : tie_minus, high = low - 1;  // a mistake if below `low`; nothing is in doubt
#else
      const i64 coarse = fine >> COARSE;
      Near score = coarse > (1 << 30) ? 1 << 30 : coarse < -(1 << 30) ? -(1 << 30) : (int)coarse;
      const bool near_enough = (slack >> COARSE) < (1 << 28);  // otherwise all rows are in doubt
      const Near high = near_enough ? (int)(slack >> COARSE) + 20 : 0x7fffffff, low = near_enough ? -high : -high - 1;
#endif
      i64 to_next = 0;
      u32 made = 0, rest = in;
#if JUDGE
      const u32 clear = __ballot_sync(FULL, score < low);
      made = clear & in, rest = in & ~clear;
#endif
      while (true) {
        const u32 maybe = __ballot_sync(FULL, score <= high) & rest;
        if (!maybe) break;
        const u32 first = maybe & (0u - maybe), sure = __ballot_sync(FULL, score < low);
        bool wrong = sure & first;
        const int i = 31 - __clz(first);
        if (!WHOLE && !wrong) {  // in doubt: by fine units, and if that is not enough, as the loop does
          if ((made >> lane) & 1) done[slots + __popc(made & ((1u << lane) - 1u))] = make_int2(r * B, y);
          __syncwarp();
          const int m = JUDGE ? 0 : slots + __popc(made), i_plus = (up >> i) & 1;
          i64 more = 0;
          for (int e = slots + lane; e < m; e += 32) more += (i64)far[done[e].x + 32 * q + i] * done[e].y;
          for (int o = 16; o; o >>= 1) more += __shfl_xor_sync(FULL, more, o);
          const i64 here = __shfl_sync(FULL, fine, i) + (i_plus ? more : -more);
          wrong = fits && here < -slack;
          if (!fits || (here <= slack && !wrong)) {
            const double f = exact_score(exact, done, m, 32 * q + i), lead = i_plus ? f : -f;
            wrong = JUDGE ? (f > 0.0) != i_plus : lead < margin || (lead == margin && (i_plus ? tie_plus : tie_minus));
            decided++;
            if (f - f != 0.0 && lane == 0) atomicMin(overflow, (i64)*clock + B * block + 32 * q + i);
          }
          __syncwarp();
        }
        rest &= 0u - (first << 1);
        if (wrong) {
          made |= first;
#if !JUDGE
          const u32 from = row_at + 256u * (32 * q + i);
          int g, ahead;
          asm volatile("ld.shared.s32 %0, [%1];" : "=r"(g) : "r"(from));
          asm volatile("ld.shared.s32 %0, [%1 + 128];" : "=r"(ahead) : "r"(from));
          const int c = up & first ? 1 : -1;
          score += (Near)g * (c * y);
          to_next += (i64)ahead * c;
#endif
        }
      }
      const int n_made = __popc(made), here = JUDGE ? 0 : (n_made + 7) & ~7;
      if (!JUDGE && ((made >> lane) & 1)) done[slots + __popc(made & ((1u << lane) - 1u))] = make_int2(r * B, y);
      if (lane < here - n_made) done[slots + n_made + lane] = make_int2(B * B, 0);
      mine->ahead[lane] = to_next;
      if (lane == 0) {
        mine->slots = slots + here;
        mine->count = count + n_made;
        made_words[(i64)p * NB + q] = made;
      }
      chunk += WARPS;
      fresh = true;
      applied = 0;
    }
    if (WARPS == 1) __syncwarp();
    else asm volatile("bar.sync %0, %1;" ::"r"(own + 1), "n"(32 * WARPS) : "memory");
    before = slots;
    slots = *(volatile int*)&mine->slots;
    count = *(volatile int*)&mine->count;
  }
  if (decided && lane == 0) atomicAdd(exacts + p, decided);
  if (w) return;
  double grown = 0.0;  // of |w|^2 + b^2 / beta: a mistake has y f <= margin. If beta is 0, so is b: see the page
  for (int e = lane; e < slots; e += 32)
    if (done[e].y) {
      const double c = step[done[e].x / B], length = c * norm[done[e].x / B] * fmax(1.0, beta);
      grown += length * (length + 2.0 * T) + 2.0 * c * fmax(margin, 0.0);
    }
  grown = sum_warp(grown);
  if (lane == 0) {
    mistakes[p] += count;
    if (!JUDGE) potential[p] = (square + grown) * (1.0 + 1e-12);
  }
}

// The biases of problems p, p + by, ... before `end` after the mistakes of a block, and their sums for the averages.
__device__ void move_biases(double* bias, double* bias_sum, const u32* made, const u32* up, int stride, const double* step,
                            double beta, double visits, int p, int by, int end) {
  __shared__ double steps[B];
  for (int i = threadIdx.x; i < B; i += blockDim.x) steps[i] = step[i];
  __syncthreads();
  for (; p < end; p += by) {
    double b = bias[p], sum = AVERAGE ? bias_sum[p] : 0.0;
    u32 words[NB], ups[NB];
#pragma unroll
    for (int q = 0; q < NB; q++) words[q] = made[(i64)p * NB + q], ups[q] = up[(i64)q * stride + p];
#pragma unroll
    for (int q = 0; q < NB; q++)
      for (u32 left = words[q]; left; left &= left - 1) {
        const int i = __ffs(left) - 1;
        const double c = (ups[q] >> i) & 1 ? steps[32 * q + i] : -steps[32 * q + i];
        b = __dadd_rn(b, __dmul_rn(c, beta));
        if (AVERAGE) sum = __dadd_rn(sum, __dmul_rn(__dmul_rn(c, visits + (32 * q + i)), beta));
      }
    bias[p] = b;
    if (AVERAGE) bias_sum[p] = sum;
  }
}

// Add the mistakes of a block in order, each with two roundings as the loop does: a warp for a problem and 64 features.
// The last column of the grid moves the biases.
extern "C" __global__ void __launch_bounds__(128)
update(double* W, double* U, double* bias, double* bias_sum, const double* X, const u32* made, const u32* up, int stride,
       const double* step, double beta, const double* clock, int block, int k, int dp) {
  const int lane = threadIdx.x & 31;
  const double visits = *clock + (double)(B * block);
  if (blockIdx.x == gridDim.x - 1) {
    const int p = 4 * blockIdx.y;
    move_biases(bias, bias_sum, made, up, stride, step, beta, visits, p + threadIdx.x, 128, min(p + 4, k));
    return;
  }
  const int p = blockIdx.y * 4 + (threadIdx.x >> 5), j = 64 * blockIdx.x + 2 * lane;
  if (p >= k) return;
  const i64 at = (i64)p * dp + j;
  u32 made_word = 0, up_word = 0;
  if (lane < NB) made_word = made[(i64)p * NB + lane], up_word = up[(i64)lane * stride + p];
  if (!__any_sync(FULL, made_word)) return;
  double2 w = *(double2*)(W + at), u = AVERAGE ? *(double2*)(U + at) : w;
  for (int q = 0; q < NB; q++) {
    const u32 ups = __shfl_sync(FULL, up_word, q);
    u32 left = __shfl_sync(FULL, made_word, q);
    while (left) {
      double2 x[4];
      int row[4], m = 0;
#pragma unroll
      for (int v = 0; v < 4; v++)
        if (left) {
          row[v] = 32 * q + __ffs(left) - 1;
          x[v] = *(const double2*)(X + (i64)row[v] * dp + j);
          left &= left - 1;
          m = v + 1;
        }
#pragma unroll
      for (int v = 0; v < 4; v++)
        if (v < m) {
          const double s = step[row[v]], c = (ups >> (row[v] & 31)) & 1 ? s : -s;
          w.x = __dadd_rn(w.x, __dmul_rn(c, x[v].x));
          w.y = __dadd_rn(w.y, __dmul_rn(c, x[v].y));
          if (AVERAGE) {
            const double ct = __dmul_rn(c, visits + row[v]);
            u.x = __dadd_rn(u.x, __dmul_rn(ct, x[v].x));
            u.y = __dadd_rn(u.y, __dmul_rn(ct, x[v].y));
          }
        }
    }
  }
  *(double2*)(W + at) = w;
  if (AVERAGE) *(double2*)(U + at) = u;
}

// The same by float64 tensor cores, where c x needs no rounding: their products are chains of fused multiply-adds in the
// order of rows, which is not documented, so `chains` tests it before they are used. A row that is no mistake adds 0 x.
__device__ __forceinline__ void multiply(double* s, const double* a, const double* b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
      "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(s[0]), "+d"(s[1]), "+d"(s[2]), "+d"(s[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
#endif
}

// Whether `multiply` is a chain in order, on random numbers: a 16 x 16, b 16 x 8, c 16 x 8 for each warp.
extern "C" __global__ void chains(const double* a, const double* b, const double* c, u32* differ) {
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  a += blockIdx.x * 256, b += blockIdx.x * 128, c += blockIdx.x * 128;
  double s[4], x[8], y[4];
  for (int i = 0; i < 4; i++) s[i] = c[(g + (i >> 1) * 8) * 8 + 2 * t + (i & 1)];
  for (int i = 0; i < 8; i++) x[i] = a[(g + (i & 1) * 8) * 16 + t + (i >> 1) * 4];
  for (int i = 0; i < 4; i++) y[i] = b[(t + i * 4) * 8 + g];
  multiply(s, x, y);
  for (int i = 0; i < 4; i++) {
    const int row = g + (i >> 1) * 8, column = 2 * t + (i & 1);
    double sum = c[row * 8 + column];
    for (int l = 0; l < 16; l++) sum = __fma_rn(a[row * 16 + l], b[l * 8 + column], sum);
    if (__double_as_longlong(sum) != __double_as_longlong(s[i])) atomicAdd(differ, 1u);
  }
}

#define DEEP 32              // rows of X in a stage
#define WIDE (8 * NT * FW)   // features of a CTA
#define TALL (16 * MT * PW)  // problems of a CTA
#define PITCH (WIDE + 4)
#define STAGES 3
extern "C" __global__ void __launch_bounds__(32 * PW * FW)
update_tiles(double* W, double* U, double* bias, double* bias_sum, const double* X, const u32* made, const u32* up, int stride,
             const double* step, double beta, const double* clock, int block, int k, int dp) {
  extern __shared__ __align__(16) double stages[];
  const double visits = *clock + (double)(B * block);
  if (blockIdx.x == gridDim.x - 1) {
    const int p = TALL * blockIdx.y;
    move_biases(bias, bias_sum, made, up, stride, step, beta, visits, p + threadIdx.x, blockDim.x, min(p + TALL, k));
    return;
  }
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
  const int p0 = blockIdx.y * TALL + (warp / FW) * 16 * MT, n0 = (warp % FW) * 8 * NT, j0 = blockIdx.x * WIDE;
  const double eta = step[0];
  const int eta_high = __double2hiint(eta);
  double w[MT][NT][4], u[AVERAGE ? MT : 1][AVERAGE ? NT : 1][4];
#define EACH                                                      \
  _Pragma("unroll") for (int a = 0; a < MT; a++)                  \
  _Pragma("unroll") for (int c = 0; c < NT; c++)                  \
  _Pragma("unroll") for (int h = 0; h < 2; h++)
  EACH {
    const int p = p0 + 16 * a + 8 * h + g;
    const i64 at = (i64)p * dp + j0 + n0 + 8 * c + 2 * t;
    const double2 from = p < k ? *(const double2*)(W + at) : make_double2(0.0, 0.0);
    w[a][c][2 * h] = from.x, w[a][c][2 * h + 1] = from.y;
#if AVERAGE
    const double2 sum = p < k ? *(const double2*)(U + at) : make_double2(0.0, 0.0);
    u[a][c][2 * h] = sum.x, u[a][c][2 * h + 1] = sum.y;
#endif
  }
  auto fetch = [&](int q) {
    for (int i = threadIdx.x; i < DEEP * WIDE / 2; i += blockDim.x) {
      const int row = i / (WIDE / 2), part = i % (WIDE / 2);
      const u32 to = (u32)__cvta_generic_to_shared(stages + ((q % STAGES) * DEEP + row) * PITCH + 2 * part);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(X + (i64)(q * DEEP + row) * dp + j0 + 2 * part));
    }
    asm volatile("cp.async.commit_group;");
  };
  u32 mistake[2 * MT], plus[2 * MT], mistake_next[2 * MT], plus_next[2 * MT];
  auto look_ahead = [&](int q) {
#pragma unroll
    for (int a = 0; a < 2 * MT; a++) {
      const int p = p0 + 8 * a + g;
      mistake_next[a] = p < k ? made[(i64)p * NB + q] : 0;
      plus_next[a] = p < k ? up[(i64)q * stride + p] : 0;
    }
  };
  fetch(0), fetch(1), look_ahead(0);
#pragma unroll 1
  for (int q = 0; q < NB; q++) {
#pragma unroll
    for (int a = 0; a < 2 * MT; a++) mistake[a] = mistake_next[a], plus[a] = plus_next[a];
    if (q + 1 < NB) look_ahead(q + 1);
    if (q + 1 < NB) asm volatile("cp.async.wait_group 1;"); else asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    if (q + 2 < NB) fetch(q + 2);
    const double* x = stages + (q % STAGES) * DEEP * PITCH;
#pragma unroll
    for (int k0 = 0; k0 < DEEP; k0 += 16) {
      double xs[NT][4];
#pragma unroll
      for (int c = 0; c < NT; c++)
#pragma unroll
        for (int i = 0; i < 4; i++) xs[c][i] = x[(k0 + t + 4 * i) * PITCH + n0 + 8 * c + g];
#pragma unroll
      for (int a = 0; a < MT; a++) {
        double cs[8], ts[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
          const int bit = k0 + t + 4 * (i >> 1), word = 2 * a + (i & 1);
          const bool on = (mistake[word] >> bit) & 1, positive = (plus[word] >> bit) & 1;
          cs[i] = __hiloint2double(on ? (positive ? eta_high : eta_high | (int)0x80000000) : 0, 0);  // eta is 2^e
          if (AVERAGE) ts[i] = cs[i] * (visits + (q * DEEP + bit));
        }
#pragma unroll
        for (int c = 0; c < NT; c++) {
          multiply(w[a][c], cs, xs[c]);
#if AVERAGE
          multiply(u[a][c], ts, xs[c]);
#endif
        }
      }
    }
  }
  EACH {
    const int p = p0 + 16 * a + 8 * h + g;
    const i64 at = (i64)p * dp + j0 + n0 + 8 * c + 2 * t;
    if (p < k) *(double2*)(W + at) = make_double2(w[a][c][2 * h], w[a][c][2 * h + 1]);
#if AVERAGE
    if (p < k) *(double2*)(U + at) = make_double2(u[a][c][2 * h], u[a][c][2 * h + 1]);
#endif
  }
}
