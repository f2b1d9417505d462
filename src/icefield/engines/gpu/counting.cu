// Counts of rows at the leaves of trees, with no, one or two elements of their paths left open.
//
// Rows are bits: a tile is 1,024 rows, 32 words, and a coded column eight planes of its codes' bits. A block of threads
// makes of the planes, in shared memory, a table of each column: the rows whose high half of the code is at most v, and whose
// low half is. With these, "code <= c" of 32 rows is three loads, whatever the number of thresholds. A thread owns a leaf
// for the whole launch and keeps its counts in registers. Lanes begin at words of their own, so that no two read the same bank.
//
// A row that fails no element of a leaf's path reaches it; one that fails exactly one reaches it with that one open.
typedef unsigned int u32;
typedef unsigned long long u64;
#define FULL 0xFFFFFFFFu
#define TABLE 1024  // words of a column's table: 32 rows of 32
#define ONES (16 * 32)
#define THREADS 512
#define GENERAL_THREADS 128
#define MOST_COUNTS 160

extern __shared__ u32 table[];

// Rows "half <= 0" to "half <= 14" of a half's four planes.
__device__ __forceinline__ void half_rows(u32 b0, u32 b1, u32 b2, u32 b3, u32* to) {
    const u32 low[4] = {~b0 & ~b1, ~b1, ~b0 | ~b1, FULL};
#pragma unroll
    for (int v = 0; v < 15; v++) {
        u32 x = low[v & 3];
        x = (v & 4) ? (x | ~b2) : (x & ~b2);
        x = (v & 8) ? (x | ~b3) : (x & ~b3);
        to[v * 32] = x;
    }
}

// The tables of a tile; behind them the rows that are there at all.
__device__ __forceinline__ void build(const u32* __restrict__ planes, const u32* __restrict__ mask, long long tile, int columns) {
    const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (int item = threadIdx.x >> 5; item < 2 * columns; item += warps) {
        const int column = item >> 1, high = item & 1;
        const u32* p = planes + ((tile * columns + column) * 8 + 4 * high) * 32 + lane;
        half_rows(p[0], p[32], p[64], p[96], table + column * TABLE + (high ? 32 : 17 * 32) + lane);
    }
    if (threadIdx.x < 32) table[columns * TABLE + lane] = mask[tile * 32 + lane];
}

__device__ __forceinline__ void begin(int columns) {
    for (int i = threadIdx.x; i < columns * 32; i += blockDim.x) {
        table[(i >> 5) * TABLE + (i & 31)] = 0;
        table[(i >> 5) * TABLE + ONES + (i & 31)] = FULL;
    }
}

__device__ __forceinline__ u32 at_most(u32 high, u32 low, u32 word) {
    return table[high - 32 + word] | (table[high + word] & table[low + word]);
}

// Leaves of K elements, of which the first E have two conditions. `leaves` are, by block, 2K + 2E + 1 rows of numbers of its threads:
// the first conditions' places in the tables (high, low), the second ones', and bits of the elements whose only condition is "not".
template <int K, int E, bool PAIRS>
__device__ __forceinline__ void count(
    const u32* __restrict__ planes, const u32* __restrict__ mask, const int* __restrict__ tiles, int n_tiles,
    int columns, const u32* __restrict__ leaves, u64* __restrict__ out) {
    constexpr int P = PAIRS ? K * (K - 1) / 2 : 0, COUNTS = 1 + K + P;
    const int thread = threadIdx.x;
    const u32 lane = thread & 31;
    const u32* own = leaves + (size_t)blockIdx.x * (2 * K + 2 * E + 1) * THREADS + thread;
    u32 ah[K], al[K], bh[E > 0 ? E : 1], bl[E > 0 ? E : 1];
#pragma unroll
    for (int j = 0; j < K; j++) { ah[j] = own[2 * j * THREADS]; al[j] = own[(2 * j + 1) * THREADS]; }
#pragma unroll
    for (int j = 0; j < E; j++) { bh[j] = own[(2 * K + 2 * j) * THREADS]; bl[j] = own[(2 * K + 2 * j + 1) * THREADS]; }
    const u32 negated = own[(2 * K + 2 * E) * THREADS];
    u32 found[COUNTS];
#pragma unroll
    for (int i = 0; i < COUNTS; i++) found[i] = 0;
    begin(columns);
    for (int t = blockIdx.y; t < n_tiles; t += gridDim.y) {
        __syncthreads();
        build(planes, mask, tiles ? tiles[t] : t, columns);
        __syncthreads();
        for (u32 step = 0; step < 32; step++) {
            const u32 word = (step + lane) & 31;
            u32 fails[K], none = table[columns * TABLE + word], one = 0, two = 0;
#pragma unroll
            for (int j = 0; j < K; j++) {
                u32 f = at_most(ah[j], al[j], word);
                if (j < E) f = ~f | at_most(bh[j], bl[j], word);
                else f ^= (negated >> j & 1) - 1;
                if (PAIRS) two = (two & ~f) | (one & f);
                one = (one & ~f) | (none & f);
                none &= ~f;
                fails[j] = f;
            }
            found[0] += __popc(none);
#pragma unroll
            for (int j = 0; j < K; j++) found[1 + j] += __popc(fails[j] & one);
            if (PAIRS) {
                int i = 1 + K;
#pragma unroll
                for (int y = 1; y < K; y++)
#pragma unroll
                    for (int x = 0; x < y; x++) found[i++] += __popc(fails[x] & fails[y] & two);
            }
        }
    }
    u64* to = out + (size_t)blockIdx.x * COUNTS * THREADS + thread;
#pragma unroll
    for (int i = 0; i < COUNTS; i++)
        if (found[i]) atomicAdd(to + (size_t)i * THREADS, (u64)found[i]);
}

#define ARGUMENTS                                                                                                      \
    const u32 *__restrict__ planes, const u32 *__restrict__ mask, const int *__restrict__ tiles, int n_tiles, int columns, \
        const u32 *__restrict__ leaves, u64 *__restrict__ out
#define KIND(NAME, K, E, PAIRS)                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(ARGUMENTS) {                 \
        count<K, E, PAIRS>(planes, mask, tiles, n_tiles, columns, leaves, out);                \
    }
KINDS

#ifdef ALWAYS
// Leaves with any number of elements and conditions. Conditions are (high, low + 2^31 for "not"); element e has those from
// element_start[e], leaf l the elements from leaf_start[l], and its counts begin at out_start[l].
extern "C" __global__ void __launch_bounds__(GENERAL_THREADS) general(
    const u32* __restrict__ planes, const u32* __restrict__ mask, const int* __restrict__ tiles, int n_tiles, int columns,
    const uint2* __restrict__ conditions, const int* __restrict__ element_start, const int* __restrict__ leaf_start,
    const int* __restrict__ out_start, int n_leaves, int pairs, u64* __restrict__ out) {
    const int leaf = blockIdx.x * GENERAL_THREADS + threadIdx.x;
    const u32 lane = threadIdx.x & 31;
    const int first = leaf < n_leaves ? leaf_start[leaf] : 0, last = leaf < n_leaves ? leaf_start[leaf + 1] : 0;
    u32 found[MOST_COUNTS];
    const int n = last - first, counts = 1 + n + (pairs ? n * (n - 1) / 2 : 0);
    for (int i = 0; i < counts; i++) found[i] = 0;
    begin(columns);
    for (int t = blockIdx.y; t < n_tiles; t += gridDim.y) {
        __syncthreads();
        build(planes, mask, tiles ? tiles[t] : t, columns);
        __syncthreads();
        if (leaf >= n_leaves) continue;
        for (u32 step = 0; step < 32; step++) {
            const u32 word = (step + lane) & 31;
            auto fails = [&](int e) {
                u32 f = 0;
                for (int c = element_start[e]; c < element_start[e + 1]; c++) {
                    const uint2 is = conditions[c];
                    const u32 holds = at_most(is.x, is.y & 0x7FFFFFFFu, word);
                    f |= (is.y >> 31) ? holds : ~holds;
                }
                return f;
            };
            u32 none = table[columns * TABLE + word], one = 0, two = 0;
            for (int e = first; e < last; e++) {
                const u32 f = fails(e);
                two = (two & ~f) | (one & f);
                one = (one & ~f) | (none & f);
                none &= ~f;
            }
            found[0] += __popc(none);
            int i = 1 + n;
            for (int y = 0; y < n; y++) {
                const u32 f = fails(first + y);
                found[1 + y] += __popc(f & one);
                if (pairs)
                    for (int x = 0; x < y; x++) found[i++] += __popc(f & fails(first + x) & two);
            }
        }
    }
    if (leaf >= n_leaves) return;
    for (int i = 0; i < counts; i++)
        if (found[i]) atomicAdd(out + out_start[leaf] + i, (u64)found[i]);
}

// Values of rows to planes of codes. A code is the number of cuts below the value; NaN, and zeros where they are missing, have one of their own.
// `order` are the rows in the order of their places, -1 for none; without it, the first `n_rows` in theirs.
template <typename T>
__device__ __forceinline__ void encode(
    const T* __restrict__ values, long long row_step, long long column_step, const int* __restrict__ order, long long n_rows,
    long long first_tile, long long n_tiles, int columns, const int* __restrict__ source, const double* __restrict__ cuts,
    const int* __restrict__ n_cuts, const int* __restrict__ missing_code, const int* __restrict__ zero_missing,
    double zero_limit, u32* __restrict__ planes, u32* __restrict__ mask, int* __restrict__ has_missing) {
    const long long item = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    const u32 lane = threadIdx.x & 31;
    if (item >= n_tiles * columns) return;
    const long long tile = item / columns;
    const int column = item % columns, n = n_cuts[column];
    const double* own = cuts + column * 256;
    u32 plane[8], here = 0;
    bool met = false;
    for (int w = 0; w < 32; w++) {
        const long long place = tile * 1024 + w * 32 + lane;
        const long long row = order ? (long long)order[place] : (place < n_rows ? place : -1);
        int code = 0;
        if (row >= 0) {
            const double x = (double)values[row * row_step + source[column] * column_step];
            if (x != x || (zero_missing[column] && fabs(x) <= zero_limit)) {
                code = missing_code[column];
                met = true;
            } else {
#pragma unroll
                for (int step = 128; step > 0; step >>= 1)
                    if (code + step <= n && own[code + step - 1] < x) code += step;
            }
        }
        const u32 there = __ballot_sync(FULL, row >= 0);
        if (lane == w) here = there;
#pragma unroll
        for (int p = 0; p < 8; p++) {
            const u32 bits = __ballot_sync(FULL, code >> p & 1);
            if (lane == w) plane[p] = bits;
        }
    }
    u32* to = planes + ((first_tile + tile) * columns + column) * 256 + lane;
#pragma unroll
    for (int p = 0; p < 8; p++) to[p * 32] = plane[p];
    if (column == 0) mask[(first_tile + tile) * 32 + lane] = here;
    if (met) has_missing[column] = 1;
}
#define ENCODE(NAME, T)                                                                                                    \
    extern "C" __global__ void NAME(                                                                                       \
        const T* values, long long row_step, long long column_step, const int* order, long long n_rows,                    \
        long long first_tile, long long n_tiles, int columns, const int* source, const double* cuts, const int* n_cuts,    \
        const int* missing_code, const int* zero_missing, double zero_limit, u32* planes, u32* mask, int* has_missing) {   \
        encode<T>(values, row_step, column_step, order, n_rows, first_tile, n_tiles, columns, source, cuts, n_cuts,        \
                  missing_code, zero_missing, zero_limit, planes, mask, has_missing);                                      \
    }
ENCODE(encode_double, double)
ENCODE(encode_float, float)
#endif
