// The kernels' C interface, declared once.
//
// A structure `NameArguments` declares a kernel: `i64 run(const NameArguments&)`, defined beside the others, which
// returns one of the statuses below. The build reads this file (`icefield.kernels.generation`) and writes the rest:
// the typed Python function `name` in `_abi.py`, and the symbol `icefield_name` that it calls. So keep one member a
// line, with the shape of an array in brackets. Members of one structure that name the same size must agree, which
// Python checks at every call; what the arrays hold is not checked, it is guaranteed by
// `icefield.forest.form.validate` and the layouts of `icefield.engines.trees`.
//
// What comes out of a kernel is what is not const here. A template is a kernel for values of f64 and one for f32: Python
// calls the one that fits the array it is given. Structures of i32 alone are records, the elements of arrays.
#pragma once

#include "arrays.hpp"

#if defined(_WIN32)
#define ICEFIELD_EXPORT extern "C" __declspec(dllexport)
#else
#define ICEFIELD_EXPORT extern "C" __attribute__((visibility("default")))
#endif

namespace icefield {

constexpr i64 DONE = 0;
constexpr i64 STOPPED = 1;    // the stop flag was raised: what was written is incomplete
constexpr i64 NO_MEMORY = 2;  // likewise
constexpr i64 TOO_LARGE = 3;  // likewise: a number does not fit its 32 bits

// The code of a missing value; larger than any other.
constexpr i64 MISSING = 1073741824;

// What the slots of a node are: see planning.cpp.
constexpr i64 JOINT = 0;
constexpr i64 SINGLES = 1;
constexpr i64 PAIRS = 2;

// Instructions are (source, condition, target, counter). The target of one that walks a subtree with lists:
constexpr i64 SUBTREE = -2;
// The tag of a split whose rows all take both sides.
constexpr i64 EITHER_WAY = -1;

// How a slot's count is found.
constexpr i64 SAME = 0;     // the parent's slot
constexpr i64 COUNTED = 1;  // a counter of its own
constexpr i64 REST = 2;     // what the sibling's counter left of the parent's slot
constexpr i64 ALL = 3;      // every row
constexpr i64 ALSO = 4;     // a counter besides the origin's count
constexpr i64 UNUSED = 5;

// --- nodes: trees that are walked row by row --------------------------------------------------------------

// How a split routes a row, by the row's code of a column: see `goes_left` in nodes.hpp.
struct RoutingRule {
    i32 column;     // -1: none, the node is a leaf
    i32 threshold;  // codes up to it go left
    i32 set_start;  // in the table of sets
    i32 set_last;   // of the set, counted from its start: codes from there on are not in it
    i32 missing_left;
};

// Half a cache line, since many nodes see a handful of rows each.
struct Node {
    RoutingRule rule;
    i32 left;  // of a leaf: its number, where the walk needs one
    i32 right;
    i32 group;  // the moving group of the split's column, as the walk numbers them
};

// --- looking: summary statistics of columns ----------------------------------------------------------------

struct ExtentArguments {
    Strided<const f64> values;  // [rows, 1]
    List<f64> ends;             // [2]
    List<i64> finite;           // [1]
};

struct TallyArguments {
    Strided<const f64> values;  // [rows, 1]
    f64 low;
    f64 high;
    f64 scale;
    List<i64> counts;  // [cells]
};

struct GatherArguments {
    Strided<const f64> values;  // [rows, 1]
    f64 low;
    f64 high;
    f64 scale;
    List<const u8> wanted;  // [cells]
    List<f64> found;        // [found]
    List<i64> filled;       // [1]
};

struct ValuesAtRanksArguments {
    Table<const f64> lanes;  // [lanes, rows]
    List<const i64> ranks;   // [ranks]
    Table<f64> values;       // [lanes, ranks]
};

// Several columns at once. What is kept of column c is in row c + 1: in row c stood its copy.
template <class T>
struct LookTogetherArguments {
    Strided<const T> matrix;        // [rows, columns]
    List<const i64> drawn;          // [drawn]
    List<const f64> probabilities;  // [ranks]
    Table<f64> kept;                // [columns + 1, rows]
    Table<f64> sample;              // [columns, drawn]
    List<u8> known;                 // [columns]
    Table<f64> at_ranks;            // [columns, ranks]
    Table<f64> edges;               // [columns, bins + 1]
    Table<f64> counts;              // [columns, bins]
    Table<f64> grid;                // [columns, points]
    Table<f64> nearest;             // [columns, points]
    List<i64> sizes;                // [columns]
    i64 first_of_grid;
    i64 further;
    Table<i32> starts;  // [columns, cells + 1]
    Table<f64> ends;    // [columns, 2]
    List<i64> missing;  // [columns]
};

// How many values of columns that were looked at are at most each of rising limits and above the one before.
struct CountInCellsArguments {
    List<const i64> chosen;   // [chosen]
    Table<f64> kept;          // [columns + 1, rows]
    Table<const i32> starts;  // [columns, cells + 1]
    Table<const f64> ends;    // [columns, 2]
    Table<const f64> limits;  // [chosen, limits]
    List<const i64> sizes;    // [chosen]
    Table<f64> counts;        // [chosen, limits + 1]
};

// How many values of several columns are at most each of rising limits and above the one before.
template <class T>
struct CountUpToArguments {
    Strided<const T> matrix;  // [rows, columns]
    Table<const f64> limits;  // [columns, limits]
    List<const i64> sizes;    // [columns]
    Table<f64> counts;        // [columns, limits + 1]
};

// --- packing: rows -> codes -> one bit per row and condition ---------------------------------------------

struct FillBucketsArguments {
    List<const f64> cuts;       // [all_cuts]
    List<const i64> cut_start;  // [coded_columns + 1]
    List<const f64> low;        // [coded_columns]
    List<const f64> scale;      // [coded_columns]
    Table<i32> bucket_start;    // [coded_columns, bucket_ends]
};

struct EncodeArguments {
    Strided<const f64> matrix;    // [rows, forest_columns]
    List<const i32> position;     // [rows]
    List<const i32> chosen;       // [chosen_columns]
    List<const i32> column;       // [coded_columns]
    List<const u8> exact;         // [coded_columns]
    List<const u8> zero_missing;  // [coded_columns]
    f64 zero_limit;
    List<const f64> cuts;           // [all_cuts]
    List<const i64> cut_start;      // [coded_columns]
    List<const i64> cut_count;      // [coded_columns]
    List<const f64> low;            // [coded_columns]
    List<const f64> scale;          // [coded_columns]
    Table<const i32> bucket_start;  // [coded_columns, bucket_ends]
    List<const i32> steps;          // [coded_columns]
    Table<i32> codes;               // [coded_columns, positions]
};

// Values as codes of one byte: the number of the first cut of their column that is not below, how many cuts there are
// (254 at most) beyond the last, and 255 for NaN. They are written from a row on.
template <class T>
struct CodeValuesArguments {
    Strided<const T> matrix;        // [rows, columns]
    List<const i32> column;         // [coded_columns]
    List<const f64> cuts;           // [all_cuts]
    List<const i64> cut_start;      // [coded_columns]
    List<const f64> low;            // [coded_columns]
    List<const f64> scale;          // [coded_columns]
    Table<const i32> bucket_start;  // [coded_columns, bucket_ends]
    List<const i32> steps;          // [coded_columns]
    i64 first_row;
    Table<u8> codes;  // [coded_columns, all_rows]
};

// What leads from values, or from their codes of one byte, to bits, for columns whose codes fit a byte. Codes may be those of more
// cuts: `code_of` and `missing_of` say what each is here; they are empty where values are given.
struct ValueTables {
    List<const i32> chosen;       // [chosen_columns]
    List<const i32> column;       // [coded_columns]
    List<const u8> zero_missing;  // [coded_columns]
    f64 zero_limit;
    List<const f64> cuts;             // [all_cuts]
    List<const i64> cut_start;        // [coded_columns]
    List<const f64> low;              // [coded_columns]
    List<const f64> scale;            // [coded_columns]
    Table<const i32> bucket_start;    // [coded_columns, bucket_ends]
    List<const i32> steps;            // [coded_columns]
    List<const i64> row_start;        // [coded_columns + 1]
    List<const i64> code_start;       // [coded_columns + 1]
    List<const i32> code_row;         // [all_codes]
    List<const u8> row_missing_left;  // [bit_rows]
    List<const u8> is_set;            // [coded_columns]
    List<const i64> member_start;     // [bit_rows + 1]
    List<const i32> members;          // [all_members]
    Table<const u8> code_of;          // [coded_columns, byte_codes]
    Table<const u8> missing_of;       // [coded_columns, byte_codes]
    List<const u8> as_coded;          // [coded_columns]  // codes are the same here, and 255 alone is missing
};

// Columns that take other values than those of a matrix: all of the first move, then of the next. No columns: nothing moves.
struct Moves {
    Strided<const f64> values;  // [rows, moved_values]
    List<const i32> chosen;     // [moved_columns]  // coded columns
    List<const i32> column;     // [coded_columns]  // where in a move each of these is
};

// Straight to bits: as `encode` and `pack` together.
template <class V>
struct PackValuesArguments {
    Strided<const V> matrix;  // [rows, forest_columns]
    ValueTables tables;
    List<const i32> position;  // [rows]
    i64 first_word;
    i64 words;
    Table<u64> bits;  // [bit_rows, all_words]
};

struct PackArguments {
    Table<const i32> codes;           // [coded_columns, positions]
    List<const i32> position;         // [rows]
    List<const i32> chosen;           // [chosen_columns]
    List<const u8> is_set;            // [coded_columns]
    List<const i64> row_start;        // [coded_columns + 1]
    List<const i64> code_start;       // [coded_columns + 1]
    List<const i32> code_row;         // [all_codes]
    List<const u8> row_missing_left;  // [bit_rows]
    List<const i64> member_start;     // [bit_rows + 1]
    List<const i32> members;          // [all_members]
    Table<u64> category_bits;         // [most_categories, words]
    List<u64> missing;                // [words]
    Table<u64> bits;                  // [bit_rows, words]
};

// --- planning: trees -> a linear program of mask operations ----------------------------------------------

struct SurveyArguments {
    List<const i32> node_left;   // [nodes]
    List<const i32> node_right;  // [nodes]
    List<const i32> roots;       // [trees]
    List<i32> depth;             // [nodes]
    List<i32> leaves;            // [nodes]
};

// By how much the mean of the leaves on the right of splits differs from that on the left, added up by condition.
struct AddDifferencesArguments {
    List<const i32> node_condition;  // [nodes]
    List<const i32> node_left;       // [nodes]
    List<const i32> node_right;      // [nodes]
    List<const i32> node_leaf;       // [nodes]
    Table<const f64> leaf_value;     // [leaves, outputs]
    List<f64> differences;           // [conditions]
};

struct PlanSizes {
    i64 instructions;
    i64 entries;
    i64 entry_buffers;
    i64 slots;
    i64 counters;
    i64 leaves;
    i64 paths;
    i64 buffers;
};

struct PlanQuestion {
    i64 scatter;
    i64 mode;
    List<const i32> roots;            // [trees]
    List<const i32> node_condition;   // [nodes]
    List<const i32> node_left;        // [nodes]
    List<const i32> node_right;       // [nodes]
    List<const i32> condition_group;  // [forest_conditions]
    List<const i32> condition_row;    // [forest_conditions]
    List<const u8> apart;             // [nodes]
    Table<const u8> asked;            // [groups, groups]
    i64 max_depth;
    i64 max_groups;
};

struct MeasurePlanArguments {
    PlanQuestion question;
    PlanSizes* sizes;
};

struct WritePlanArguments {
    PlanQuestion question;
    Table<i32> program;       // [instructions, 4]
    List<i32> entry_node;     // [entries]
    List<i32> entry_start;    // [entries + 1]
    List<i32> entry_buffer;   // [entry_buffers]
    List<i32> slot_origin;    // [slots]
    List<i32> slot_counter;   // [slots]
    List<i8> slot_kind;       // [slots]
    List<i32> leaf_node;      // [leaves]
    List<i32> leaf_slot;      // [leaves]
    List<i32> path_start;     // [leaves + 1]
    List<i32> path_group;     // [paths]
    List<i32> path_region;    // [paths]
    List<i32> node_tag;       // [nodes]
    List<i32> node_counter;   // [nodes]
    List<i32> region_before;  // [nodes]
};

// --- running a program over a block of rows --------------------------------------------------------------

// What every such kernel takes: the program, the conditions' bits and the masks; entries into subtrees; and what
// lists ask: the trees' nodes (`group` is a split's tag: see lists.hpp), which leaf or counter a node is, the rows' codes
// and the sets.
struct Walk {
    Table<const i32> program;       // [instructions, 4]
    Table<const u64> bits;          // [bit_rows, words]
    Table<u64> buffers;             // [buffers, words]
    List<const i32> entry_node;     // [entries]
    List<const i32> entry_start;    // [entries + 1]
    List<const i32> entry_buffer;   // [entry_buffers]
    List<const Node> list_nodes;    // [list_nodes]
    List<const i32> node_counter;   // [nodes]
    Table<const i32> codes_by_row;  // [list_positions, coded_columns]
    List<const u8> set_table;       // [set_places]
    List<const u8> stop;            // [1]
};

// Each leaf's value, or one for every output, and the output it adds to (-1: to all of them).
struct Leaves {
    List<const i32> output;  // [leaves]
    Table<const f64> value;  // [leaves, values_a_leaf]
};

struct CountArguments {
    Walk walk;
    Table<const u64> planes;     // [planes, words]
    List<const i64> segments;    // [segments + 1]
    List<const i32> segment_of;  // [positions]
    List<const i64> weight_of;   // [positions]
    Table<i64> counters;         // [counters, segments]
};

// Packing and counting of rows that weigh 1, block by block and for each move; the first layer of `bits` is that of the walk.
template <class V>
struct CountRowsArguments {
    Strided<const V> matrix;  // [rows, forest_columns]
    List<const u64> here;     // [kept_words]
    ValueTables tables;
    Moves moves;
    Walk walk;
    Cube<u64> bits;       // [moves, bit_rows, words]
    Table<i64> counters;  // [counters, moves]
};

// Counting of a block of such rows that is packed. In layers after the first only the rows of bits are there that differ
// between moves, which `moved` names.
struct CountMovesArguments {
    Walk walk;
    Cube<const u64> bits;  // [moves, bit_rows, words]
    List<const u8> moved;  // [bit_rows]
    Table<i64> counters;   // [counters, moves]
};

// Rows of each code, by column, among those whose bit is set.
struct CountCodesArguments {
    Table<const u8> codes;  // [columns, rows]
    List<const u64> here;   // [kept_words]
    Table<i64> counts;      // [columns, 256]
};

struct AddByCodeArguments {
    List<const i64> codes;    // [rows]
    Table<const f64> values;  // [rows, columns]
    Table<f64> sums;          // [codes, columns]
};

struct OrderNumbersArguments {
    List<const f64> values;  // [rows]
    List<i64> order;         // [rows]
    List<u8> is_last;        // [rows]
    List<i64> finite;        // [1]
};

// Rows of the levels of several sets between ranks, in an order of some rows by a value.
struct CountBetweenRanksArguments {
    List<const i64> order;    // [ordered_rows]
    List<const u8> is_last;   // [ordered_rows]
    Table<const i32> places;  // [rows, sets]
    List<const i64> starts;   // [sets + 1]
    Table<const i64> ranks;   // [sets, cuts]
    Table<i64> counts;        // [segments, levels]
    List<i64> used;           // [sets]
};

struct FindNeverTogetherArguments {
    f64 least;
    List<const i32> codes;        // [rows]
    Table<const i16> others;      // [sets, rows]
    List<const i64> group_start;  // [sets + 1]
    List<const i64> group_rows;   // [groups]
    Table<u8> never;              // [codes, groups]
};

struct ResolveArguments {
    List<const i32> slot_origin;   // [slots]
    List<const i32> slot_counter;  // [slots]
    List<const i8> slot_kind;      // [slots]
    Table<const i64> counters;     // [counters, segments]
    List<const i64> total;         // [segments]
    Table<i64> counts;             // [slots, segments]
};

struct AddLeavesArguments {
    Walk walk;
    Leaves leaves;
    List<const i64> update_start;  // [leaves + 1]
    List<const i32> update_at;     // [updates]
    List<const f64> update_sign;   // [updates]
    Cube<f64> differences;         // [outputs, grid, block]
};

struct SumUpArguments {
    i64 outer;
    i64 middle;
    i64 inner;
    List<const f64> base;   // [outputs]
    List<const i32> order;  // [grid]
    Cube<f64> differences;  // [outputs, grid, block]
    Cube<f64> values;       // [outputs, grid, rows]
};

struct AddChangesArguments {
    Walk walk;
    Leaves leaves;
    Table<const i64> leaf_region;  // [axes, leaves]
    List<const i64> edge_start;    // [regions + 1]
    List<const i64> edge_step;     // [edges]
    List<const i8> edge_sign;      // [edges]
    Table<const i8> change;        // [regions, points]
    List<const i64> step_start;    // [axes]
    Table<const i32> steps;        // [axes, rows]
    Table<u64> step_bits;          // [all_steps, words]
    Table<f64> out;                // [rows, outputs]
};

struct AddCornersArguments {
    Walk walk;
    Leaves leaves;
    Table<const i64> leaf_region;  // [axes, leaves]
    Table<const i8> inside;        // [regions, points]
    Cube<const i32> corners;       // [corners, axes, rows]
    Cube<f64> out;                 // [corners, rows, outputs]
};

struct RegionSharesArguments {
    List<const u64> masks;         // [mask_words]
    List<const i64> start;         // [axes]
    List<const i64> words;         // [axes]
    List<const i64> first;         // [axes + 1]
    List<const f64> weight_from;   // [cells]
    List<const i64> weight_start;  // [axes + 1]
    List<f64> share;               // [regions]
};

struct AddOthersArguments {
    Walk walk;
    Leaves leaves;
    List<const i32> path_start;  // [leaves + 1]
    List<const i32> path_group;  // [paths]
    List<const f64> path_share;  // [paths]
    Cube<f64> out;               // [outputs, group_columns, rows]
};

// --- every feature's ICE curves on a linked scale, in one walk ------------------------------------------------------------

// The link from margins to what is averaged.
constexpr i64 LOGISTIC = 0;
constexpr i64 EXPONENTIAL = 1;
constexpr i64 SOFTMAX = 2;
constexpr i64 IDENTITY = 3;

// Trees for walking row by row. `path_*` name each leaf's region on the grid of each group of its path, `runs` the
// runs of points a region consists of, numbered over all groups.
struct StepTrees {
    List<const Node> nodes;       // [nodes]
    Table<const f64> node_value;  // [nodes, values_a_leaf]
    List<const i32> roots;        // [trees]
    List<const i32> tree_output;  // [trees]
    List<const f64> base;         // [outputs]
    List<const u8> set_table;     // [set_places]
    List<const i32> path_start;   // [leaves + 1]
    List<const i32> path_group;   // [paths]
    List<const i32> path_region;  // [paths]
    List<const i64> run_start;    // [regions + 1]
    Table<const i32> runs;        // [runs, 2]
};

// What rows' curves add up to: the grids, the link, the rows' weights and segments, and the sums.
struct StepTotals {
    List<const i32> point_start;  // [groups]
    List<const i32> points;       // [groups]
    i64 link;
    f64 factor;
    List<const f64> about;    // [outputs]
    List<const f64> weight;   // [rows]
    List<const i32> segment;  // [rows]
    Cube<f64> own;            // [segments, outputs, 2]
    Cube<f64> sums;           // [segments, outputs, flat]
    Cube<f64> squares;        // [segments, outputs, squared]
    Table<f64> first;         // [kept_rows, outputs]
    Cube<f64> curves;         // [kept_rows, outputs, kept_points]
};

struct AddStepsArguments {
    StepTrees trees;
    StepTotals totals;
    Table<const i32> codes;  // [rows, coded_columns]
    List<const u8> stop;     // [1]
};

// The same trees, leaf by leaf. A *region* is what one side of a split leaves of a group's values: a test, twice a row of
// bits and one more where the bit must not be set, and the region before it on the path (0: everything; region r has number
// r + 1, after those before it). An *item* is a leaf and a group on its path: its region, and its entry. An *entry* is an item
// whose group moves, its leaf and region, in the order of groups, then of lists: one list for all outputs, or one for each.
// Values are, by leaf, what changes where it comes and where it goes.
struct MaskedTrees {
    Table<const f64> leaf_value;  // [leaves, values_a_leaf]
    Table<const f64> value;       // [twice_leaves, values_a_leaf]
    List<const i32> leaf_tree;    // [leaves]
    List<const i32> leaf_output;  // [leaves]
    List<const f64> base;         // [outputs]
    Table<const i32> regions;     // [regions, 2]
    List<const i32> leaf_item;    // [leaves + 1]
    Table<const i32> items;       // [items, 2]
    List<const i32> entry_list;   // [entry_lists + 1]
    Table<const i32> entries;     // [entries, 2]
};

// Along a group's grid entries come and go by lists of *events*, an entry and the number of a value each, for every step; a
// start value is even where its entry is there from the start.
// Where most masks have no rows it pays to ask (`skips_empty`). Where regions come and go more often than that pays, a group
// has instead, from `group_inside` on (-1: it has none), the steps inside the region of each of its entries as words.
struct SweepTrees {
    MaskedTrees masked;
    List<const i32> start_value;   // [entries]
    List<const i32> group_list;    // [groups]
    List<const i32> list_event;    // [lists + 1]
    Table<const i32> events;       // [events, 2]
    List<const i32> group_inside;  // [groups]
    List<const u64> inside;        // [words_of_steps]
    i64 skips_empty;
};

struct AddSweepsArguments {
    SweepTrees trees;
    StepTotals totals;
    Table<const u64> bits;  // [bit_rows, words]
    List<const u8> stop;    // [1]
};

// --- how every row's curve steps ------------------------------------------------------------------------------

// By group: how many steps it has, where its tolerances begin, and how many of its steps are at numbers (those after them are
// at missing). For every group, output and row `found` has the smallest and largest step, the largest fall and rise in all, the
// value at missing less the lowest at numbers, and the range at numbers; `places` the steps at which the first two are.
struct AuditStepsArguments {
    SweepTrees trees;
    List<const i32> points;       // [groups]
    List<const i32> point_start;  // [groups]
    List<const i32> numbers;      // [groups]
    List<const f64> tolerance;    // [flat]
    i64 link;
    f64 factor;
    i64 rows;
    Table<const u64> bits;  // [bit_rows, words]
    Cube<f64> found;        // [groups, six_outputs, rows]
    Cube<i32> places;       // [groups, two_outputs, rows]
    List<const u8> stop;    // [1]
};

// --- averages at a few rows' own values on a linked scale, each row crossed with each ------------------------

// Each leaf's value and output as in `Leaves`, and for every group on its path which rows have values that lead there.
struct CrossTrees {
    Table<const f64> leaf_value;  // [leaves, values_a_leaf]
    List<const i32> leaf_output;  // [leaves]
    List<const i32> path_start;   // [leaves + 1]
    List<const i32> path_mask;    // [paths]
    Table<const u64> masks;       // [masks, words]
    Table<const f64> own;         // [outputs, rows]
    List<const f64> weight;       // [rows]
    i64 link;
    f64 factor;
};

// What moving one group does to the rows from `first` on; entry e is the place of a group on the path of a leaf.
// `averaged` is the number of groups, or 0 where only the moves are wanted.
struct CrossSinglesArguments {
    CrossTrees trees;
    i64 first;
    List<const i32> groups;       // [asked]
    List<const i32> entry_start;  // [groups + 1]
    List<const i32> entry_leaf;   // [entries]
    List<const i32> entry_path;   // [entries]
    Cube<f64> moves;              // [groups, planes, rows]
    Cube<f64> averages;           // [averaged, outputs, rows]
    Cube<f64> others;             // [averaged, outputs, rows]
    List<const u8> stop;          // [1]
};

// The same for two groups at once.
struct CrossPairsArguments {
    CrossTrees trees;
    i64 first;
    List<const i32> asked;        // [asked]
    Table<const i32> pairs;       // [pairs, 2]
    List<const i32> entry_start;  // [pairs + 1]
    List<const i32> entry_leaf;   // [entries]
    Table<const i32> entry_path;  // [entries, 2]
    Cube<const f64> moves;        // [groups, planes, rows]
    Cube<f64> averages;           // [pairs, outputs, rows]
    List<const u8> stop;          // [1]
};

struct TurnArguments {
    Table<const i32> codes;  // [coded_columns, positions]
    Table<i32> turned;       // [rows, coded_columns]
};

// --- from counts to averages -----------------------------------------------------------------------------

struct FindRegionsArguments {
    List<const i32> splits;          // [splits]
    List<const i32> node_condition;  // [nodes]
    List<const i32> node_left;       // [nodes]
    List<const i32> node_right;      // [nodes]
    List<const i32> condition_row;   // [forest_conditions]
    List<const i32> region_before;   // [nodes]
    List<const i32> rank;            // [nodes]
    Table<const u64> bits;           // [bit_rows, words]
    List<const u64> everything;      // [words]
    Table<u64> regions;              // [regions, words]
};

// The regions of all axes: see `icefield.engines.trees.axes.Regions`.
struct RegionsOfAxes {
    List<const i32> rank;   // [nodes]
    List<const i64> size;   // [axes]
    List<const i64> words;  // [axes]
    List<const i64> start;  // [axes]
    List<const u64> masks;  // [mask_words]
};

struct CountUpdatesArguments {
    RegionsOfAxes regions;
    List<const i32> path_start;   // [leaves + 1]
    List<const i32> path_group;   // [paths]
    List<const i32> path_region;  // [paths]
    List<i64> update_start;       // [leaves + 1]
};

struct FindUpdatesArguments {
    RegionsOfAxes regions;
    List<const i32> path_start;    // [leaves + 1]
    List<const i32> path_group;    // [paths]
    List<const i32> path_region;   // [paths]
    List<const i64> update_start;  // [leaves + 1]
    List<i32> update_at;           // [updates]
    List<f64> update_sign;         // [updates]
};

struct AddJointArguments {
    Leaves leaves;
    List<const i64> update_start;  // [leaves + 1]
    List<const i32> update_at;     // [updates]
    List<const f64> update_sign;   // [updates]
    List<const f64> share;         // [leaves]
    Table<f64> differences;        // [outputs, grid]
};

struct AddFamilyArguments {
    i64 pairs;
    Leaves leaves;
    RegionsOfAxes regions;
    List<const i32> leaf_slot;        // [leaves]
    List<const i32> path_start;       // [leaves + 1]
    List<const i32> path_group;       // [paths]
    List<const i32> path_region;      // [paths]
    List<const f64> share;            // [slots]
    List<const i32> axis_of_group;    // [groups]
    List<const i64> single_start;     // [axes + 1]
    Table<const i32> pair_of_groups;  // [paired_groups, paired_groups]
    Table<const i32> pair_axes;       // [pairs, 2]
    List<const i64> pair_start;       // [pairs]
    List<f64> total;                  // [outputs]
    Table<f64> constant;              // [outputs, axes]
    Table<f64> singles;               // [outputs, all_points]
    Table<f64> surfaces;              // [outputs, all_surface_points]
};

struct SumSurfaceArguments {
    List<const f64> level;           // [outputs]
    Table<const f64> first;          // [outputs, rows]
    Table<const f64> second;         // [outputs, columns]
    Strided<const f64> differences;  // [outputs, grid]
    Cube<f64> surface;               // [outputs, rows, columns]
};

struct LookUpSurfaceArguments {
    Cube<const f64> surface;    // [outputs, first_cells, second_cells]
    List<const i32> first_of;   // [rows]
    List<const i32> second_of;  // [rows]
    Table<f64> values;          // [rows, outputs]
};

// --- reading: numbers written as text ---------------------------------------------------------------------

struct ReadNumbersArguments {
    List<const u8> text;  // [characters]
    List<f64> found;      // [numbers]
    List<u8> left;        // [numbers]
};

// --- predictions: every row's own ------------------------------------------------------------------------

constexpr i64 MOST_NUMBERED = 256;  // leaves of a tree whose rows are told apart by numbers

struct AddPredictionsArguments {
    Walk walk;
    Leaves leaves;
    List<const i64> tree_start;   // [trees + 1]
    List<const u8> leaf_by_leaf;  // [trees]
    Table<f64> out;               // [outputs, rows]
};

// Packing and predicting of rows as they lie in a matrix, block by block and for each move; `bits` are those of the walk.
template <class V>
struct PredictRowsArguments {
    Strided<const V> matrix;  // [rows, forest_columns]
    ValueTables tables;
    Moves moves;
    Walk walk;
    Table<u64> bits;  // [bit_rows, words]
    Leaves leaves;
    List<const i64> tree_start;   // [trees + 1]
    List<const u8> leaf_by_leaf;  // [trees]
    Cube<f64> out;                // [moves, outputs, rows]
};

// --- rows moved to both ends of the steps they lie in, for every feature ----------------------------------------

// `place` is where a row lies: step s of a group of numbers leads from node s to the next, a group of levels
// (`on_levels`) lies at node s itself; -1 takes no part. `node_code` holds, for every moving column, the codes of its
// group's nodes.
struct MoveCodesArguments {
    Table<const i32> place;        // [groups, rows]
    List<const u8> on_levels;      // [groups]
    List<const i32> nodes;         // [groups]
    List<const i32> moving;        // [moving_columns]
    List<const i32> moving_group;  // [moving_columns]
    List<const i64> code_start;    // [moving_columns]
    List<const i32> node_code;     // [node_codes]
    Table<const i32> codes;        // [coded_columns, rows]
    Table<i32> before;             // [coded_columns, rows]
    Table<i32> after;              // [coded_columns, rows]
    List<i64> unlike;              // [1]
};

// `own`, `before` and `after` are the conditions' bits of rows as they are, and at the nodes on either side; the latter
// two only where a group moves. `counts` and `changes` are by segment and place: see local_moves.cpp.
struct AddLocalMovesArguments {
    MaskedTrees trees;
    i64 link;
    f64 factor;
    List<const i32> chosen;       // [selected]
    List<const f64> sign;         // [selected]
    List<const u8> on_levels;     // [groups]
    List<const i64> place_start;  // [groups]
    Table<const i32> place;       // [groups, rows]
    List<const f64> weight;       // [rows]
    List<const f64> square;       // [rows]
    List<const i32> segment;      // [rows]
    Table<const u64> own;         // [bit_rows, words]
    Table<const u64> before;      // [bit_rows, words]
    Table<const u64> after;       // [bit_rows, words]
    Cube<f64> counts;             // [segments, places, 3]
    Cube<f64> changes;            // [segments, places, by_output]
    List<const u8> stop;          // [1]
};

// --- grids: runs of points, and curves from steps ---------------------------------------------------------------

// Each axis's regions are numbered from ``first[axis]``, its points begin at ``point_start[axis]``.
struct RegionsOfGrids {
    List<const u64> masks;        // [mask_words]
    List<const i64> start;        // [axes]
    List<const i64> words;        // [axes]
    List<const i64> first;        // [axes + 1]
    List<const i64> point_start;  // [axes + 1]
};

struct CountRunsArguments {
    RegionsOfGrids regions;
    List<i64> run_start;  // [regions + 1]
    List<u8> is_step;     // [points]
};

struct FindRunsArguments {
    RegionsOfGrids regions;
    List<const u8> is_step;  // [points]
    Table<i32> runs;         // [runs, 2]
    List<i32> run_axis;      // [runs]
};

struct UnfoldArguments {
    List<const i64> point_start;  // [axes + 1]
    List<const u8> is_step;       // [points]
    List<const i32> order;        // [points]
    List<const i32> step_start;   // [axes + 1]
    Table<const f64> first;       // [kept_rows, outputs]
    Cube<const f64> changes;      // [kept_rows, outputs, flat]
    i64 begin;
    i64 rows;
    List<f64> curves;  // [curve_values]
};

}  // namespace icefield
