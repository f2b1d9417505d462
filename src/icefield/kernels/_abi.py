"""The kernels' interface: written by `build_kernels.py` from `native/abi.hpp`, which is the file to change."""
# ruff: noqa
# fmt: off

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icefield.kernels.calling import Array, Filled, Given, Kernel, Number, Part, Structure

STAMP = "bdfb14b49682ce6eefba9d2d38620fc536256272e2d53811011ff081a376ab28"  # of the header

DONE = 0
STOPPED = 1
NO_MEMORY = 2
TOO_LARGE = 3
MISSING = 1073741824
JOINT = 0
SINGLES = 1
PAIRS = 2
SUBTREE = -2
EITHER_WAY = -1
SAME = 0
COUNTED = 1
REST = 2
ALL = 3
ALSO = 4
UNUSED = 5
LOGISTIC = 0
EXPONENTIAL = 1
SOFTMAX = 2
IDENTITY = 3
MOST_NUMBERED = 256

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
UInt64 = NDArray[np.uint64]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
_I8 = np.dtype(np.int8)
_I16 = np.dtype(np.int16)
_I32 = np.dtype(np.int32)
_I64 = np.dtype(np.int64)
_U8 = np.dtype(np.uint8)
_U64 = np.dtype(np.uint64)
_F32 = np.dtype(np.float32)
_F64 = np.dtype(np.float64)

ROUTING_RULE = np.dtype([
    ("column", np.int32), ("threshold", np.int32), ("set_start", np.int32), ("set_last", np.int32),
    ("missing_left", np.int32)
])

NODE = np.dtype([("rule", ROUTING_RULE), ("left", np.int32), ("right", np.int32), ("group", np.int32)])


_extent = Structure("ExtentArguments", (
    Array("values", _F64, (('rows', 0), ('', 1)), has_strides=True), Array("ends", _F64, (('', 2),), is_written=True),
    Array("finite", _I64, (('', 1),), is_written=True),
))
_run_extent = Kernel("extent", _extent)


def extent(*, values: Float64, ends: Float64, finite: Int64) -> bool:
    return _run_extent(locals())


_tally = Structure("TallyArguments", (
    Array("values", _F64, (('rows', 0), ('', 1)), has_strides=True), Number("low", is_whole=False),
    Number("high", is_whole=False), Number("scale", is_whole=False),
    Array("counts", _I64, (('cells', 0),), is_written=True),
))
_run_tally = Kernel("tally", _tally)


def tally(*, values: Float64, low: float, high: float, scale: float, counts: Int64) -> bool:
    return _run_tally(locals())


_gather = Structure("GatherArguments", (
    Array("values", _F64, (('rows', 0), ('', 1)), has_strides=True), Number("low", is_whole=False),
    Number("high", is_whole=False), Number("scale", is_whole=False), Array("wanted", _U8, (('cells', 0),)),
    Array("found", _F64, (('found', 0),), is_written=True), Array("filled", _I64, (('', 1),), is_written=True),
))
_run_gather = Kernel("gather", _gather)


def gather(*,
    values: Float64, low: float, high: float, scale: float, wanted: UInt8, found: Float64, filled: Int64
) -> bool:
    return _run_gather(locals())


_values_at_ranks = Structure("ValuesAtRanksArguments", (
    Array("lanes", _F64, (('lanes', 0), ('rows', 0))), Array("ranks", _I64, (('ranks', 0),)),
    Array("values", _F64, (('lanes', 0), ('ranks', 0)), is_written=True),
))
_run_values_at_ranks = Kernel("values_at_ranks", _values_at_ranks)


def values_at_ranks(*, lanes: Float64, ranks: Int64, values: Float64) -> bool:
    return _run_values_at_ranks(locals())


_look_together = Structure("LookTogetherArguments", (
    Array("matrix", _F64, (('rows', 0), ('columns', 0)), has_strides=True), Array("drawn", _I64, (('drawn', 0),)),
    Array("probabilities", _F64, (('ranks', 0),)),
    Array("kept", _F64, (('columns', 1), ('rows', 0)), is_written=True),
    Array("sample", _F64, (('columns', 0), ('drawn', 0)), is_written=True),
    Array("known", _U8, (('columns', 0),), is_written=True),
    Array("at_ranks", _F64, (('columns', 0), ('ranks', 0)), is_written=True),
    Array("edges", _F64, (('columns', 0), ('bins', 1)), is_written=True),
    Array("counts", _F64, (('columns', 0), ('bins', 0)), is_written=True),
    Array("grid", _F64, (('columns', 0), ('points', 0)), is_written=True),
    Array("nearest", _F64, (('columns', 0), ('points', 0)), is_written=True),
    Array("sizes", _I64, (('columns', 0),), is_written=True), Number("first_of_grid", is_whole=True),
    Number("further", is_whole=True), Array("starts", _I32, (('columns', 0), ('cells', 1)), is_written=True),
    Array("ends", _F64, (('columns', 0), ('', 2)), is_written=True),
    Array("missing", _I64, (('columns', 0),), is_written=True),
))
_run_look_together = Kernel("look_together", _look_together)
_run_look_together_f32 = Kernel("look_together_f32", _look_together.retyped("matrix", _F32))


def look_together(*,
    matrix: Float64 | Float32, drawn: Int64, probabilities: Float64, kept: Float64, sample: Float64, known: UInt8,
    at_ranks: Float64, edges: Float64, counts: Float64, grid: Float64, nearest: Float64, sizes: Int64,
    first_of_grid: int, further: int, starts: Int32, ends: Float64, missing: Int64
) -> bool:
    return (_run_look_together_f32 if matrix.dtype == _F32 else _run_look_together)(locals())


_count_in_cells = Structure("CountInCellsArguments", (
    Array("chosen", _I64, (('chosen', 0),)), Array("kept", _F64, (('columns', 1), ('rows', 0)), is_written=True),
    Array("starts", _I32, (('columns', 0), ('cells', 1))), Array("ends", _F64, (('columns', 0), ('', 2))),
    Array("limits", _F64, (('chosen', 0), ('limits', 0))), Array("sizes", _I64, (('chosen', 0),)),
    Array("counts", _F64, (('chosen', 0), ('limits', 1)), is_written=True),
))
_run_count_in_cells = Kernel("count_in_cells", _count_in_cells)


def count_in_cells(*,
    chosen: Int64, kept: Float64, starts: Int32, ends: Float64, limits: Float64, sizes: Int64, counts: Float64
) -> bool:
    return _run_count_in_cells(locals())


_count_up_to = Structure("CountUpToArguments", (
    Array("matrix", _F64, (('rows', 0), ('columns', 0)), has_strides=True),
    Array("limits", _F64, (('columns', 0), ('limits', 0))), Array("sizes", _I64, (('columns', 0),)),
    Array("counts", _F64, (('columns', 0), ('limits', 1)), is_written=True),
))
_run_count_up_to = Kernel("count_up_to", _count_up_to)
_run_count_up_to_f32 = Kernel("count_up_to_f32", _count_up_to.retyped("matrix", _F32))


def count_up_to(*, matrix: Float64 | Float32, limits: Float64, sizes: Int64, counts: Float64) -> bool:
    return (_run_count_up_to_f32 if matrix.dtype == _F32 else _run_count_up_to)(locals())


_fill_buckets = Structure("FillBucketsArguments", (
    Array("cuts", _F64, (('all_cuts', 0),)), Array("cut_start", _I64, (('coded_columns', 1),)),
    Array("low", _F64, (('coded_columns', 0),)), Array("scale", _F64, (('coded_columns', 0),)),
    Array("bucket_start", _I32, (('coded_columns', 0), ('bucket_ends', 0)), is_written=True),
))
_run_fill_buckets = Kernel("fill_buckets", _fill_buckets)


def fill_buckets(*, cuts: Float64, cut_start: Int64, low: Float64, scale: Float64, bucket_start: Int32) -> bool:
    return _run_fill_buckets(locals())


_encode = Structure("EncodeArguments", (
    Array("matrix", _F64, (('rows', 0), ('forest_columns', 0)), has_strides=True),
    Array("position", _I32, (('rows', 0),)), Array("chosen", _I32, (('chosen_columns', 0),)),
    Array("column", _I32, (('coded_columns', 0),)), Array("exact", _U8, (('coded_columns', 0),)),
    Array("zero_missing", _U8, (('coded_columns', 0),)), Number("zero_limit", is_whole=False),
    Array("cuts", _F64, (('all_cuts', 0),)), Array("cut_start", _I64, (('coded_columns', 0),)),
    Array("cut_count", _I64, (('coded_columns', 0),)), Array("low", _F64, (('coded_columns', 0),)),
    Array("scale", _F64, (('coded_columns', 0),)),
    Array("bucket_start", _I32, (('coded_columns', 0), ('bucket_ends', 0))),
    Array("steps", _I32, (('coded_columns', 0),)),
    Array("codes", _I32, (('coded_columns', 0), ('positions', 0)), is_written=True),
))
_run_encode = Kernel("encode", _encode)


def encode(*,
    matrix: Float64, position: Int32, chosen: Int32, column: Int32, exact: UInt8, zero_missing: UInt8,
    zero_limit: float, cuts: Float64, cut_start: Int64, cut_count: Int64, low: Float64, scale: Float64,
    bucket_start: Int32, steps: Int32, codes: Int32
) -> bool:
    return _run_encode(locals())


_code_values = Structure("CodeValuesArguments", (
    Array("matrix", _F64, (('rows', 0), ('columns', 0)), has_strides=True),
    Array("column", _I32, (('coded_columns', 0),)), Array("cuts", _F64, (('all_cuts', 0),)),
    Array("cut_start", _I64, (('coded_columns', 0),)), Array("low", _F64, (('coded_columns', 0),)),
    Array("scale", _F64, (('coded_columns', 0),)),
    Array("bucket_start", _I32, (('coded_columns', 0), ('bucket_ends', 0))),
    Array("steps", _I32, (('coded_columns', 0),)), Number("first_row", is_whole=True),
    Array("codes", _U8, (('coded_columns', 0), ('all_rows', 0)), is_written=True),
))
_run_code_values = Kernel("code_values", _code_values)
_run_code_values_f32 = Kernel("code_values_f32", _code_values.retyped("matrix", _F32))


def code_values(*,
    matrix: Float64 | Float32, column: Int32, cuts: Float64, cut_start: Int64, low: Float64, scale: Float64,
    bucket_start: Int32, steps: Int32, first_row: int, codes: UInt8
) -> bool:
    return (_run_code_values_f32 if matrix.dtype == _F32 else _run_code_values)(locals())


_value_tables = Structure("ValueTables", (
    Array("chosen", _I32, (('chosen_columns', 0),)), Array("column", _I32, (('coded_columns', 0),)),
    Array("zero_missing", _U8, (('coded_columns', 0),)), Number("zero_limit", is_whole=False),
    Array("cuts", _F64, (('all_cuts', 0),)), Array("cut_start", _I64, (('coded_columns', 0),)),
    Array("low", _F64, (('coded_columns', 0),)), Array("scale", _F64, (('coded_columns', 0),)),
    Array("bucket_start", _I32, (('coded_columns', 0), ('bucket_ends', 0))),
    Array("steps", _I32, (('coded_columns', 0),)), Array("row_start", _I64, (('coded_columns', 1),)),
    Array("code_start", _I64, (('coded_columns', 1),)), Array("code_row", _I32, (('all_codes', 0),)),
    Array("row_missing_left", _U8, (('bit_rows', 0),)), Array("is_set", _U8, (('coded_columns', 0),)),
    Array("member_start", _I64, (('bit_rows', 1),)), Array("members", _I32, (('all_members', 0),)),
    Array("code_of", _U8, (('coded_columns', 0), ('byte_codes', 0))),
    Array("missing_of", _U8, (('coded_columns', 0), ('byte_codes', 0))),
    Array("as_coded", _U8, (('coded_columns', 0),)),
))


class ValueTables(Given):
    def __init__(self, *,
        chosen: Int32, column: Int32, zero_missing: UInt8, zero_limit: float, cuts: Float64, cut_start: Int64,
        low: Float64, scale: Float64, bucket_start: Int32, steps: Int32, row_start: Int64, code_start: Int64,
        code_row: Int32, row_missing_left: UInt8, is_set: UInt8, member_start: Int64, members: Int32, code_of: UInt8,
        missing_of: UInt8, as_coded: UInt8
    ) -> None:
        super().__init__(_value_tables, dict(
            chosen=chosen, column=column, zero_missing=zero_missing, zero_limit=zero_limit, cuts=cuts,
            cut_start=cut_start, low=low, scale=scale, bucket_start=bucket_start, steps=steps, row_start=row_start,
            code_start=code_start, code_row=code_row, row_missing_left=row_missing_left, is_set=is_set,
            member_start=member_start, members=members, code_of=code_of, missing_of=missing_of, as_coded=as_coded
        ))


_moves = Structure("Moves", (
    Array("values", _F64, (('rows', 0), ('moved_values', 0)), has_strides=True),
    Array("chosen", _I32, (('moved_columns', 0),)), Array("column", _I32, (('coded_columns', 0),)),
))


class Moves(Given):
    def __init__(self, *, values: Float64, chosen: Int32, column: Int32) -> None:
        super().__init__(_moves, dict(values=values, chosen=chosen, column=column))


_pack_values = Structure("PackValuesArguments", (
    Array("matrix", _F64, (('rows', 0), ('forest_columns', 0)), has_strides=True), Part("tables", _value_tables),
    Array("position", _I32, (('rows', 0),)), Number("first_word", is_whole=True), Number("words", is_whole=True),
    Array("bits", _U64, (('bit_rows', 0), ('all_words', 0)), is_written=True),
))
_run_pack_values = Kernel("pack_values", _pack_values)
_run_pack_values_f32 = Kernel("pack_values_f32", _pack_values.retyped("matrix", _F32))
_run_pack_values_u8 = Kernel("pack_values_u8", _pack_values.retyped("matrix", _U8))


def pack_values(*,
    matrix: Float64 | Float32 | UInt8, tables: ValueTables, position: Int32, first_word: int, words: int, bits: UInt64
) -> bool:
    return (_run_pack_values_u8 if matrix.dtype == _U8 else _run_pack_values_f32 if matrix.dtype == _F32 else _run_pack_values)(locals())


_pack = Structure("PackArguments", (
    Array("codes", _I32, (('coded_columns', 0), ('positions', 0))), Array("position", _I32, (('rows', 0),)),
    Array("chosen", _I32, (('chosen_columns', 0),)), Array("is_set", _U8, (('coded_columns', 0),)),
    Array("row_start", _I64, (('coded_columns', 1),)), Array("code_start", _I64, (('coded_columns', 1),)),
    Array("code_row", _I32, (('all_codes', 0),)), Array("row_missing_left", _U8, (('bit_rows', 0),)),
    Array("member_start", _I64, (('bit_rows', 1),)), Array("members", _I32, (('all_members', 0),)),
    Array("category_bits", _U64, (('most_categories', 0), ('words', 0)), is_written=True),
    Array("missing", _U64, (('words', 0),), is_written=True),
    Array("bits", _U64, (('bit_rows', 0), ('words', 0)), is_written=True),
))
_run_pack = Kernel("pack", _pack)


def pack(*,
    codes: Int32, position: Int32, chosen: Int32, is_set: UInt8, row_start: Int64, code_start: Int64, code_row: Int32,
    row_missing_left: UInt8, member_start: Int64, members: Int32, category_bits: UInt64, missing: UInt64, bits: UInt64
) -> bool:
    return _run_pack(locals())


_survey = Structure("SurveyArguments", (
    Array("node_left", _I32, (('nodes', 0),)), Array("node_right", _I32, (('nodes', 0),)),
    Array("roots", _I32, (('trees', 0),)), Array("depth", _I32, (('nodes', 0),), is_written=True),
    Array("leaves", _I32, (('nodes', 0),), is_written=True),
))
_run_survey = Kernel("survey", _survey)


def survey(*, node_left: Int32, node_right: Int32, roots: Int32, depth: Int32, leaves: Int32) -> bool:
    return _run_survey(locals())


_add_differences = Structure("AddDifferencesArguments", (
    Array("node_condition", _I32, (('nodes', 0),)), Array("node_left", _I32, (('nodes', 0),)),
    Array("node_right", _I32, (('nodes', 0),)), Array("node_leaf", _I32, (('nodes', 0),)),
    Array("leaf_value", _F64, (('leaves', 0), ('outputs', 0))),
    Array("differences", _F64, (('conditions', 0),), is_written=True),
))
_run_add_differences = Kernel("add_differences", _add_differences)


def add_differences(*,
    node_condition: Int32, node_left: Int32, node_right: Int32, node_leaf: Int32, leaf_value: Float64,
    differences: Float64
) -> bool:
    return _run_add_differences(locals())


_plan_sizes = Structure("PlanSizes", (
    Number("instructions", is_whole=True), Number("entries", is_whole=True), Number("entry_buffers", is_whole=True),
    Number("slots", is_whole=True), Number("counters", is_whole=True), Number("leaves", is_whole=True),
    Number("paths", is_whole=True), Number("buffers", is_whole=True),
))


class PlanSizes(Filled):
    instructions: int
    entries: int
    entry_buffers: int
    slots: int
    counters: int
    leaves: int
    paths: int
    buffers: int

    def __init__(self) -> None:
        super().__init__(_plan_sizes)


_plan_question = Structure("PlanQuestion", (
    Number("scatter", is_whole=True), Number("mode", is_whole=True), Array("roots", _I32, (('trees', 0),)),
    Array("node_condition", _I32, (('nodes', 0),)), Array("node_left", _I32, (('nodes', 0),)),
    Array("node_right", _I32, (('nodes', 0),)), Array("condition_group", _I32, (('forest_conditions', 0),)),
    Array("condition_row", _I32, (('forest_conditions', 0),)), Array("apart", _U8, (('nodes', 0),)),
    Array("asked", _U8, (('groups', 0), ('groups', 0))), Number("max_depth", is_whole=True),
    Number("max_groups", is_whole=True),
))


class PlanQuestion(Given):
    def __init__(self, *,
        scatter: int, mode: int, roots: Int32, node_condition: Int32, node_left: Int32, node_right: Int32,
        condition_group: Int32, condition_row: Int32, apart: UInt8, asked: UInt8, max_depth: int, max_groups: int
    ) -> None:
        super().__init__(_plan_question, dict(
            scatter=scatter, mode=mode, roots=roots, node_condition=node_condition, node_left=node_left,
            node_right=node_right, condition_group=condition_group, condition_row=condition_row, apart=apart,
            asked=asked, max_depth=max_depth, max_groups=max_groups
        ))


_measure_plan = Structure("MeasurePlanArguments", (
    Part("question", _plan_question), Part("sizes", _plan_sizes, is_filled=True),
))
_run_measure_plan = Kernel("measure_plan", _measure_plan)


def measure_plan(*, question: PlanQuestion, sizes: PlanSizes) -> bool:
    return _run_measure_plan(locals())


_write_plan = Structure("WritePlanArguments", (
    Part("question", _plan_question), Array("program", _I32, (('instructions', 0), ('', 4)), is_written=True),
    Array("entry_node", _I32, (('entries', 0),), is_written=True),
    Array("entry_start", _I32, (('entries', 1),), is_written=True),
    Array("entry_buffer", _I32, (('entry_buffers', 0),), is_written=True),
    Array("slot_origin", _I32, (('slots', 0),), is_written=True),
    Array("slot_counter", _I32, (('slots', 0),), is_written=True),
    Array("slot_kind", _I8, (('slots', 0),), is_written=True),
    Array("leaf_node", _I32, (('leaves', 0),), is_written=True),
    Array("leaf_slot", _I32, (('leaves', 0),), is_written=True),
    Array("path_start", _I32, (('leaves', 1),), is_written=True),
    Array("path_group", _I32, (('paths', 0),), is_written=True),
    Array("path_region", _I32, (('paths', 0),), is_written=True),
    Array("node_tag", _I32, (('nodes', 0),), is_written=True),
    Array("node_counter", _I32, (('nodes', 0),), is_written=True),
    Array("region_before", _I32, (('nodes', 0),), is_written=True),
))
_run_write_plan = Kernel("write_plan", _write_plan)


def write_plan(*,
    question: PlanQuestion, program: Int32, entry_node: Int32, entry_start: Int32, entry_buffer: Int32,
    slot_origin: Int32, slot_counter: Int32, slot_kind: Int8, leaf_node: Int32, leaf_slot: Int32, path_start: Int32,
    path_group: Int32, path_region: Int32, node_tag: Int32, node_counter: Int32, region_before: Int32
) -> bool:
    return _run_write_plan(locals())


_walk = Structure("Walk", (
    Array("program", _I32, (('instructions', 0), ('', 4))), Array("bits", _U64, (('bit_rows', 0), ('words', 0))),
    Array("buffers", _U64, (('buffers', 0), ('words', 0)), is_written=True),
    Array("entry_node", _I32, (('entries', 0),)), Array("entry_start", _I32, (('entries', 1),)),
    Array("entry_buffer", _I32, (('entry_buffers', 0),)), Array("list_nodes", NODE, (('list_nodes', 0),)),
    Array("node_counter", _I32, (('nodes', 0),)),
    Array("codes_by_row", _I32, (('list_positions', 0), ('coded_columns', 0))),
    Array("set_table", _U8, (('set_places', 0),)), Array("stop", _U8, (('', 1),)),
))


class Walk(Given):
    def __init__(self, *,
        program: Int32, bits: UInt64, buffers: UInt64, entry_node: Int32, entry_start: Int32, entry_buffer: Int32,
        list_nodes: NDArray[np.void], node_counter: Int32, codes_by_row: Int32, set_table: UInt8, stop: UInt8
    ) -> None:
        super().__init__(_walk, dict(
            program=program, bits=bits, buffers=buffers, entry_node=entry_node, entry_start=entry_start,
            entry_buffer=entry_buffer, list_nodes=list_nodes, node_counter=node_counter, codes_by_row=codes_by_row,
            set_table=set_table, stop=stop
        ))


_leaves = Structure("Leaves", (
    Array("output", _I32, (('leaves', 0),)), Array("value", _F64, (('leaves', 0), ('values_a_leaf', 0))),
))


class Leaves(Given):
    def __init__(self, *, output: Int32, value: Float64) -> None:
        super().__init__(_leaves, dict(output=output, value=value))


_count = Structure("CountArguments", (
    Part("walk", _walk), Array("planes", _U64, (('planes', 0), ('words', 0))),
    Array("segments", _I64, (('segments', 1),)), Array("segment_of", _I32, (('positions', 0),)),
    Array("weight_of", _I64, (('positions', 0),)),
    Array("counters", _I64, (('counters', 0), ('segments', 0)), is_written=True),
))
_run_count = Kernel("count", _count)


def count(*,
    walk: Walk, planes: UInt64, segments: Int64, segment_of: Int32, weight_of: Int64, counters: Int64
) -> bool:
    return _run_count(locals())


_count_rows = Structure("CountRowsArguments", (
    Array("matrix", _F64, (('rows', 0), ('forest_columns', 0)), has_strides=True),
    Array("here", _U64, (('kept_words', 0),)), Part("tables", _value_tables), Part("moves", _moves),
    Part("walk", _walk), Array("bits", _U64, (('moves', 0), ('bit_rows', 0), ('words', 0)), is_written=True),
    Array("counters", _I64, (('counters', 0), ('moves', 0)), is_written=True),
))
_run_count_rows = Kernel("count_rows", _count_rows)
_run_count_rows_f32 = Kernel("count_rows_f32", _count_rows.retyped("matrix", _F32))
_run_count_rows_u8 = Kernel("count_rows_u8", _count_rows.retyped("matrix", _U8))


def count_rows(*,
    matrix: Float64 | Float32 | UInt8, here: UInt64, tables: ValueTables, moves: Moves, walk: Walk, bits: UInt64,
    counters: Int64
) -> bool:
    return (_run_count_rows_u8 if matrix.dtype == _U8 else _run_count_rows_f32 if matrix.dtype == _F32 else _run_count_rows)(locals())


_count_moves = Structure("CountMovesArguments", (
    Part("walk", _walk), Array("bits", _U64, (('moves', 0), ('bit_rows', 0), ('words', 0))),
    Array("moved", _U8, (('bit_rows', 0),)), Array("counters", _I64, (('counters', 0), ('moves', 0)), is_written=True),
))
_run_count_moves = Kernel("count_moves", _count_moves)


def count_moves(*, walk: Walk, bits: UInt64, moved: UInt8, counters: Int64) -> bool:
    return _run_count_moves(locals())


_count_codes = Structure("CountCodesArguments", (
    Array("codes", _U8, (('columns', 0), ('rows', 0))), Array("here", _U64, (('kept_words', 0),)),
    Array("counts", _I64, (('columns', 0), ('', 256)), is_written=True),
))
_run_count_codes = Kernel("count_codes", _count_codes)


def count_codes(*, codes: UInt8, here: UInt64, counts: Int64) -> bool:
    return _run_count_codes(locals())


_add_by_code = Structure("AddByCodeArguments", (
    Array("codes", _I64, (('rows', 0),)), Array("values", _F64, (('rows', 0), ('columns', 0))),
    Array("sums", _F64, (('codes', 0), ('columns', 0)), is_written=True),
))
_run_add_by_code = Kernel("add_by_code", _add_by_code)


def add_by_code(*, codes: Int64, values: Float64, sums: Float64) -> bool:
    return _run_add_by_code(locals())


_order_numbers = Structure("OrderNumbersArguments", (
    Array("values", _F64, (('rows', 0),)), Array("order", _I64, (('rows', 0),), is_written=True),
    Array("is_last", _U8, (('rows', 0),), is_written=True), Array("finite", _I64, (('', 1),), is_written=True),
))
_run_order_numbers = Kernel("order_numbers", _order_numbers)


def order_numbers(*, values: Float64, order: Int64, is_last: UInt8, finite: Int64) -> bool:
    return _run_order_numbers(locals())


_count_between_ranks = Structure("CountBetweenRanksArguments", (
    Array("order", _I64, (('ordered_rows', 0),)), Array("is_last", _U8, (('ordered_rows', 0),)),
    Array("places", _I32, (('rows', 0), ('sets', 0))), Array("starts", _I64, (('sets', 1),)),
    Array("ranks", _I64, (('sets', 0), ('cuts', 0))),
    Array("counts", _I64, (('segments', 0), ('levels', 0)), is_written=True),
    Array("used", _I64, (('sets', 0),), is_written=True),
))
_run_count_between_ranks = Kernel("count_between_ranks", _count_between_ranks)


def count_between_ranks(*,
    order: Int64, is_last: UInt8, places: Int32, starts: Int64, ranks: Int64, counts: Int64, used: Int64
) -> bool:
    return _run_count_between_ranks(locals())


_find_never_together = Structure("FindNeverTogetherArguments", (
    Number("least", is_whole=False), Array("codes", _I32, (('rows', 0),)),
    Array("others", _I16, (('sets', 0), ('rows', 0))), Array("group_start", _I64, (('sets', 1),)),
    Array("group_rows", _I64, (('groups', 0),)), Array("never", _U8, (('codes', 0), ('groups', 0)), is_written=True),
))
_run_find_never_together = Kernel("find_never_together", _find_never_together)


def find_never_together(*,
    least: float, codes: Int32, others: Int16, group_start: Int64, group_rows: Int64, never: UInt8
) -> bool:
    return _run_find_never_together(locals())


_resolve = Structure("ResolveArguments", (
    Array("slot_origin", _I32, (('slots', 0),)), Array("slot_counter", _I32, (('slots', 0),)),
    Array("slot_kind", _I8, (('slots', 0),)), Array("counters", _I64, (('counters', 0), ('segments', 0))),
    Array("total", _I64, (('segments', 0),)), Array("counts", _I64, (('slots', 0), ('segments', 0)), is_written=True),
))
_run_resolve = Kernel("resolve", _resolve)


def resolve(*,
    slot_origin: Int32, slot_counter: Int32, slot_kind: Int8, counters: Int64, total: Int64, counts: Int64
) -> bool:
    return _run_resolve(locals())


_add_leaves = Structure("AddLeavesArguments", (
    Part("walk", _walk), Part("leaves", _leaves), Array("update_start", _I64, (('leaves', 1),)),
    Array("update_at", _I32, (('updates', 0),)), Array("update_sign", _F64, (('updates', 0),)),
    Array("differences", _F64, (('outputs', 0), ('grid', 0), ('block', 0)), is_written=True),
))
_run_add_leaves = Kernel("add_leaves", _add_leaves)


def add_leaves(*,
    walk: Walk, leaves: Leaves, update_start: Int64, update_at: Int32, update_sign: Float64, differences: Float64
) -> bool:
    return _run_add_leaves(locals())


_sum_up = Structure("SumUpArguments", (
    Number("outer", is_whole=True), Number("middle", is_whole=True), Number("inner", is_whole=True),
    Array("base", _F64, (('outputs', 0),)), Array("order", _I32, (('grid', 0),)),
    Array("differences", _F64, (('outputs', 0), ('grid', 0), ('block', 0)), is_written=True),
    Array("values", _F64, (('outputs', 0), ('grid', 0), ('rows', 0)), is_written=True),
))
_run_sum_up = Kernel("sum_up", _sum_up)


def sum_up(*,
    outer: int, middle: int, inner: int, base: Float64, order: Int32, differences: Float64, values: Float64
) -> bool:
    return _run_sum_up(locals())


_add_changes = Structure("AddChangesArguments", (
    Part("walk", _walk), Part("leaves", _leaves), Array("leaf_region", _I64, (('axes', 0), ('leaves', 0))),
    Array("edge_start", _I64, (('regions', 1),)), Array("edge_step", _I64, (('edges', 0),)),
    Array("edge_sign", _I8, (('edges', 0),)), Array("change", _I8, (('regions', 0), ('points', 0))),
    Array("step_start", _I64, (('axes', 0),)), Array("steps", _I32, (('axes', 0), ('rows', 0))),
    Array("step_bits", _U64, (('all_steps', 0), ('words', 0)), is_written=True),
    Array("out", _F64, (('rows', 0), ('outputs', 0)), is_written=True),
))
_run_add_changes = Kernel("add_changes", _add_changes)


def add_changes(*,
    walk: Walk, leaves: Leaves, leaf_region: Int64, edge_start: Int64, edge_step: Int64, edge_sign: Int8,
    change: Int8, step_start: Int64, steps: Int32, step_bits: UInt64, out: Float64
) -> bool:
    return _run_add_changes(locals())


_add_corners = Structure("AddCornersArguments", (
    Part("walk", _walk), Part("leaves", _leaves), Array("leaf_region", _I64, (('axes', 0), ('leaves', 0))),
    Array("inside", _I8, (('regions', 0), ('points', 0))),
    Array("corners", _I32, (('corners', 0), ('axes', 0), ('rows', 0))),
    Array("out", _F64, (('corners', 0), ('rows', 0), ('outputs', 0)), is_written=True),
))
_run_add_corners = Kernel("add_corners", _add_corners)


def add_corners(*,
    walk: Walk, leaves: Leaves, leaf_region: Int64, inside: Int8, corners: Int32, out: Float64
) -> bool:
    return _run_add_corners(locals())


_region_shares = Structure("RegionSharesArguments", (
    Array("masks", _U64, (('mask_words', 0),)), Array("start", _I64, (('axes', 0),)),
    Array("words", _I64, (('axes', 0),)), Array("first", _I64, (('axes', 1),)),
    Array("weight_from", _F64, (('cells', 0),)), Array("weight_start", _I64, (('axes', 1),)),
    Array("share", _F64, (('regions', 0),), is_written=True),
))
_run_region_shares = Kernel("region_shares", _region_shares)


def region_shares(*,
    masks: UInt64, start: Int64, words: Int64, first: Int64, weight_from: Float64, weight_start: Int64, share: Float64
) -> bool:
    return _run_region_shares(locals())


_add_others = Structure("AddOthersArguments", (
    Part("walk", _walk), Part("leaves", _leaves), Array("path_start", _I32, (('leaves', 1),)),
    Array("path_group", _I32, (('paths', 0),)), Array("path_share", _F64, (('paths', 0),)),
    Array("out", _F64, (('outputs', 0), ('group_columns', 0), ('rows', 0)), is_written=True),
))
_run_add_others = Kernel("add_others", _add_others)


def add_others(*,
    walk: Walk, leaves: Leaves, path_start: Int32, path_group: Int32, path_share: Float64, out: Float64
) -> bool:
    return _run_add_others(locals())


_step_trees = Structure("StepTrees", (
    Array("nodes", NODE, (('nodes', 0),)), Array("node_value", _F64, (('nodes', 0), ('values_a_leaf', 0))),
    Array("roots", _I32, (('trees', 0),)), Array("tree_output", _I32, (('trees', 0),)),
    Array("base", _F64, (('outputs', 0),)), Array("set_table", _U8, (('set_places', 0),)),
    Array("path_start", _I32, (('leaves', 1),)), Array("path_group", _I32, (('paths', 0),)),
    Array("path_region", _I32, (('paths', 0),)), Array("run_start", _I64, (('regions', 1),)),
    Array("runs", _I32, (('runs', 0), ('', 2))),
))


class StepTrees(Given):
    def __init__(self, *,
        nodes: NDArray[np.void], node_value: Float64, roots: Int32, tree_output: Int32, base: Float64,
        set_table: UInt8, path_start: Int32, path_group: Int32, path_region: Int32, run_start: Int64, runs: Int32
    ) -> None:
        super().__init__(_step_trees, dict(
            nodes=nodes, node_value=node_value, roots=roots, tree_output=tree_output, base=base, set_table=set_table,
            path_start=path_start, path_group=path_group, path_region=path_region, run_start=run_start, runs=runs
        ))


_step_totals = Structure("StepTotals", (
    Array("point_start", _I32, (('groups', 0),)), Array("points", _I32, (('groups', 0),)),
    Number("link", is_whole=True), Number("factor", is_whole=False), Array("about", _F64, (('outputs', 0),)),
    Array("weight", _F64, (('rows', 0),)), Array("segment", _I32, (('rows', 0),)),
    Array("own", _F64, (('segments', 0), ('outputs', 0), ('', 2)), is_written=True),
    Array("sums", _F64, (('segments', 0), ('outputs', 0), ('flat', 0)), is_written=True),
    Array("squares", _F64, (('segments', 0), ('outputs', 0), ('squared', 0)), is_written=True),
    Array("first", _F64, (('kept_rows', 0), ('outputs', 0)), is_written=True),
    Array("curves", _F64, (('kept_rows', 0), ('outputs', 0), ('kept_points', 0)), is_written=True),
))


class StepTotals(Given):
    def __init__(self, *,
        point_start: Int32, points: Int32, link: int, factor: float, about: Float64, weight: Float64, segment: Int32,
        own: Float64, sums: Float64, squares: Float64, first: Float64, curves: Float64
    ) -> None:
        super().__init__(_step_totals, dict(
            point_start=point_start, points=points, link=link, factor=factor, about=about, weight=weight,
            segment=segment, own=own, sums=sums, squares=squares, first=first, curves=curves
        ))


_add_steps = Structure("AddStepsArguments", (
    Part("trees", _step_trees), Part("totals", _step_totals),
    Array("codes", _I32, (('rows', 0), ('coded_columns', 0))), Array("stop", _U8, (('', 1),)),
))
_run_add_steps = Kernel("add_steps", _add_steps)


def add_steps(*, trees: StepTrees, totals: StepTotals, codes: Int32, stop: UInt8) -> bool:
    return _run_add_steps(locals())


_masked_trees = Structure("MaskedTrees", (
    Array("leaf_value", _F64, (('leaves', 0), ('values_a_leaf', 0))),
    Array("value", _F64, (('twice_leaves', 0), ('values_a_leaf', 0))), Array("leaf_tree", _I32, (('leaves', 0),)),
    Array("leaf_output", _I32, (('leaves', 0),)), Array("base", _F64, (('outputs', 0),)),
    Array("regions", _I32, (('regions', 0), ('', 2))), Array("leaf_item", _I32, (('leaves', 1),)),
    Array("items", _I32, (('items', 0), ('', 2))), Array("entry_list", _I32, (('entry_lists', 1),)),
    Array("entries", _I32, (('entries', 0), ('', 2))),
))


class MaskedTrees(Given):
    def __init__(self, *,
        leaf_value: Float64, value: Float64, leaf_tree: Int32, leaf_output: Int32, base: Float64, regions: Int32,
        leaf_item: Int32, items: Int32, entry_list: Int32, entries: Int32
    ) -> None:
        super().__init__(_masked_trees, dict(
            leaf_value=leaf_value, value=value, leaf_tree=leaf_tree, leaf_output=leaf_output, base=base,
            regions=regions, leaf_item=leaf_item, items=items, entry_list=entry_list, entries=entries
        ))


_sweep_trees = Structure("SweepTrees", (
    Part("masked", _masked_trees), Array("start_value", _I32, (('entries', 0),)),
    Array("group_list", _I32, (('groups', 0),)), Array("list_event", _I32, (('lists', 1),)),
    Array("events", _I32, (('events', 0), ('', 2))), Array("group_inside", _I32, (('groups', 0),)),
    Array("inside", _U64, (('words_of_steps', 0),)), Number("skips_empty", is_whole=True),
))


class SweepTrees(Given):
    def __init__(self, *,
        masked: MaskedTrees, start_value: Int32, group_list: Int32, list_event: Int32, events: Int32,
        group_inside: Int32, inside: UInt64, skips_empty: int
    ) -> None:
        super().__init__(_sweep_trees, dict(
            masked=masked, start_value=start_value, group_list=group_list, list_event=list_event, events=events,
            group_inside=group_inside, inside=inside, skips_empty=skips_empty
        ))


_add_sweeps = Structure("AddSweepsArguments", (
    Part("trees", _sweep_trees), Part("totals", _step_totals), Array("bits", _U64, (('bit_rows', 0), ('words', 0))),
    Array("stop", _U8, (('', 1),)),
))
_run_add_sweeps = Kernel("add_sweeps", _add_sweeps)


def add_sweeps(*, trees: SweepTrees, totals: StepTotals, bits: UInt64, stop: UInt8) -> bool:
    return _run_add_sweeps(locals())


_audit_steps = Structure("AuditStepsArguments", (
    Part("trees", _sweep_trees), Array("points", _I32, (('groups', 0),)),
    Array("point_start", _I32, (('groups', 0),)), Array("numbers", _I32, (('groups', 0),)),
    Array("tolerance", _F64, (('flat', 0),)), Number("link", is_whole=True), Number("factor", is_whole=False),
    Number("rows", is_whole=True), Array("bits", _U64, (('bit_rows', 0), ('words', 0))),
    Array("found", _F64, (('groups', 0), ('six_outputs', 0), ('rows', 0)), is_written=True),
    Array("places", _I32, (('groups', 0), ('two_outputs', 0), ('rows', 0)), is_written=True),
    Array("stop", _U8, (('', 1),)),
))
_run_audit_steps = Kernel("audit_steps", _audit_steps)


def audit_steps(*,
    trees: SweepTrees, points: Int32, point_start: Int32, numbers: Int32, tolerance: Float64, link: int,
    factor: float, rows: int, bits: UInt64, found: Float64, places: Int32, stop: UInt8
) -> bool:
    return _run_audit_steps(locals())


_cross_trees = Structure("CrossTrees", (
    Array("leaf_value", _F64, (('leaves', 0), ('values_a_leaf', 0))), Array("leaf_output", _I32, (('leaves', 0),)),
    Array("path_start", _I32, (('leaves', 1),)), Array("path_mask", _I32, (('paths', 0),)),
    Array("masks", _U64, (('masks', 0), ('words', 0))), Array("own", _F64, (('outputs', 0), ('rows', 0))),
    Array("weight", _F64, (('rows', 0),)), Number("link", is_whole=True), Number("factor", is_whole=False),
))


class CrossTrees(Given):
    def __init__(self, *,
        leaf_value: Float64, leaf_output: Int32, path_start: Int32, path_mask: Int32, masks: UInt64, own: Float64,
        weight: Float64, link: int, factor: float
    ) -> None:
        super().__init__(_cross_trees, dict(
            leaf_value=leaf_value, leaf_output=leaf_output, path_start=path_start, path_mask=path_mask, masks=masks,
            own=own, weight=weight, link=link, factor=factor
        ))


_cross_singles = Structure("CrossSinglesArguments", (
    Part("trees", _cross_trees), Number("first", is_whole=True), Array("groups", _I32, (('asked', 0),)),
    Array("entry_start", _I32, (('groups', 1),)), Array("entry_leaf", _I32, (('entries', 0),)),
    Array("entry_path", _I32, (('entries', 0),)),
    Array("moves", _F64, (('groups', 0), ('planes', 0), ('rows', 0)), is_written=True),
    Array("averages", _F64, (('averaged', 0), ('outputs', 0), ('rows', 0)), is_written=True),
    Array("others", _F64, (('averaged', 0), ('outputs', 0), ('rows', 0)), is_written=True),
    Array("stop", _U8, (('', 1),)),
))
_run_cross_singles = Kernel("cross_singles", _cross_singles)


def cross_singles(*,
    trees: CrossTrees, first: int, groups: Int32, entry_start: Int32, entry_leaf: Int32, entry_path: Int32,
    moves: Float64, averages: Float64, others: Float64, stop: UInt8
) -> bool:
    return _run_cross_singles(locals())


_cross_pairs = Structure("CrossPairsArguments", (
    Part("trees", _cross_trees), Number("first", is_whole=True), Array("asked", _I32, (('asked', 0),)),
    Array("pairs", _I32, (('pairs', 0), ('', 2))), Array("entry_start", _I32, (('pairs', 1),)),
    Array("entry_leaf", _I32, (('entries', 0),)), Array("entry_path", _I32, (('entries', 0), ('', 2))),
    Array("moves", _F64, (('groups', 0), ('planes', 0), ('rows', 0))),
    Array("averages", _F64, (('pairs', 0), ('outputs', 0), ('rows', 0)), is_written=True),
    Array("stop", _U8, (('', 1),)),
))
_run_cross_pairs = Kernel("cross_pairs", _cross_pairs)


def cross_pairs(*,
    trees: CrossTrees, first: int, asked: Int32, pairs: Int32, entry_start: Int32, entry_leaf: Int32,
    entry_path: Int32, moves: Float64, averages: Float64, stop: UInt8
) -> bool:
    return _run_cross_pairs(locals())


_turn = Structure("TurnArguments", (
    Array("codes", _I32, (('coded_columns', 0), ('positions', 0))),
    Array("turned", _I32, (('rows', 0), ('coded_columns', 0)), is_written=True),
))
_run_turn = Kernel("turn", _turn)


def turn(*, codes: Int32, turned: Int32) -> bool:
    return _run_turn(locals())


_find_regions = Structure("FindRegionsArguments", (
    Array("splits", _I32, (('splits', 0),)), Array("node_condition", _I32, (('nodes', 0),)),
    Array("node_left", _I32, (('nodes', 0),)), Array("node_right", _I32, (('nodes', 0),)),
    Array("condition_row", _I32, (('forest_conditions', 0),)), Array("region_before", _I32, (('nodes', 0),)),
    Array("rank", _I32, (('nodes', 0),)), Array("bits", _U64, (('bit_rows', 0), ('words', 0))),
    Array("everything", _U64, (('words', 0),)),
    Array("regions", _U64, (('regions', 0), ('words', 0)), is_written=True),
))
_run_find_regions = Kernel("find_regions", _find_regions)


def find_regions(*,
    splits: Int32, node_condition: Int32, node_left: Int32, node_right: Int32, condition_row: Int32,
    region_before: Int32, rank: Int32, bits: UInt64, everything: UInt64, regions: UInt64
) -> bool:
    return _run_find_regions(locals())


_regions_of_axes = Structure("RegionsOfAxes", (
    Array("rank", _I32, (('nodes', 0),)), Array("size", _I64, (('axes', 0),)), Array("words", _I64, (('axes', 0),)),
    Array("start", _I64, (('axes', 0),)), Array("masks", _U64, (('mask_words', 0),)),
))


class RegionsOfAxes(Given):
    def __init__(self, *, rank: Int32, size: Int64, words: Int64, start: Int64, masks: UInt64) -> None:
        super().__init__(_regions_of_axes, dict(rank=rank, size=size, words=words, start=start, masks=masks))


_count_updates = Structure("CountUpdatesArguments", (
    Part("regions", _regions_of_axes), Array("path_start", _I32, (('leaves', 1),)),
    Array("path_group", _I32, (('paths', 0),)), Array("path_region", _I32, (('paths', 0),)),
    Array("update_start", _I64, (('leaves', 1),), is_written=True),
))
_run_count_updates = Kernel("count_updates", _count_updates)


def count_updates(*,
    regions: RegionsOfAxes, path_start: Int32, path_group: Int32, path_region: Int32, update_start: Int64
) -> bool:
    return _run_count_updates(locals())


_find_updates = Structure("FindUpdatesArguments", (
    Part("regions", _regions_of_axes), Array("path_start", _I32, (('leaves', 1),)),
    Array("path_group", _I32, (('paths', 0),)), Array("path_region", _I32, (('paths', 0),)),
    Array("update_start", _I64, (('leaves', 1),)), Array("update_at", _I32, (('updates', 0),), is_written=True),
    Array("update_sign", _F64, (('updates', 0),), is_written=True),
))
_run_find_updates = Kernel("find_updates", _find_updates)


def find_updates(*,
    regions: RegionsOfAxes, path_start: Int32, path_group: Int32, path_region: Int32, update_start: Int64,
    update_at: Int32, update_sign: Float64
) -> bool:
    return _run_find_updates(locals())


_add_joint = Structure("AddJointArguments", (
    Part("leaves", _leaves), Array("update_start", _I64, (('leaves', 1),)),
    Array("update_at", _I32, (('updates', 0),)), Array("update_sign", _F64, (('updates', 0),)),
    Array("share", _F64, (('leaves', 0),)), Array("differences", _F64, (('outputs', 0), ('grid', 0)), is_written=True),
))
_run_add_joint = Kernel("add_joint", _add_joint)


def add_joint(*,
    leaves: Leaves, update_start: Int64, update_at: Int32, update_sign: Float64, share: Float64, differences: Float64
) -> bool:
    return _run_add_joint(locals())


_add_family = Structure("AddFamilyArguments", (
    Number("pairs", is_whole=True), Part("leaves", _leaves), Part("regions", _regions_of_axes),
    Array("leaf_slot", _I32, (('leaves', 0),)), Array("path_start", _I32, (('leaves', 1),)),
    Array("path_group", _I32, (('paths', 0),)), Array("path_region", _I32, (('paths', 0),)),
    Array("share", _F64, (('slots', 0),)), Array("axis_of_group", _I32, (('groups', 0),)),
    Array("single_start", _I64, (('axes', 1),)),
    Array("pair_of_groups", _I32, (('paired_groups', 0), ('paired_groups', 0))),
    Array("pair_axes", _I32, (('pairs', 0), ('', 2))), Array("pair_start", _I64, (('pairs', 0),)),
    Array("total", _F64, (('outputs', 0),), is_written=True),
    Array("constant", _F64, (('outputs', 0), ('axes', 0)), is_written=True),
    Array("singles", _F64, (('outputs', 0), ('all_points', 0)), is_written=True),
    Array("surfaces", _F64, (('outputs', 0), ('all_surface_points', 0)), is_written=True),
))
_run_add_family = Kernel("add_family", _add_family)


def add_family(*,
    pairs: int, leaves: Leaves, regions: RegionsOfAxes, leaf_slot: Int32, path_start: Int32, path_group: Int32,
    path_region: Int32, share: Float64, axis_of_group: Int32, single_start: Int64, pair_of_groups: Int32,
    pair_axes: Int32, pair_start: Int64, total: Float64, constant: Float64, singles: Float64, surfaces: Float64
) -> bool:
    return _run_add_family(locals())


_sum_surface = Structure("SumSurfaceArguments", (
    Array("level", _F64, (('outputs', 0),)), Array("first", _F64, (('outputs', 0), ('rows', 0))),
    Array("second", _F64, (('outputs', 0), ('columns', 0))),
    Array("differences", _F64, (('outputs', 0), ('grid', 0)), has_strides=True),
    Array("surface", _F64, (('outputs', 0), ('rows', 0), ('columns', 0)), is_written=True),
))
_run_sum_surface = Kernel("sum_surface", _sum_surface)


def sum_surface(*, level: Float64, first: Float64, second: Float64, differences: Float64, surface: Float64) -> bool:
    return _run_sum_surface(locals())


_look_up_surface = Structure("LookUpSurfaceArguments", (
    Array("surface", _F64, (('outputs', 0), ('first_cells', 0), ('second_cells', 0))),
    Array("first_of", _I32, (('rows', 0),)), Array("second_of", _I32, (('rows', 0),)),
    Array("values", _F64, (('rows', 0), ('outputs', 0)), is_written=True),
))
_run_look_up_surface = Kernel("look_up_surface", _look_up_surface)


def look_up_surface(*, surface: Float64, first_of: Int32, second_of: Int32, values: Float64) -> bool:
    return _run_look_up_surface(locals())


_read_numbers = Structure("ReadNumbersArguments", (
    Array("text", _U8, (('characters', 0),)), Array("found", _F64, (('numbers', 0),), is_written=True),
    Array("left", _U8, (('numbers', 0),), is_written=True),
))
_run_read_numbers = Kernel("read_numbers", _read_numbers)


def read_numbers(*, text: UInt8, found: Float64, left: UInt8) -> bool:
    return _run_read_numbers(locals())


_add_predictions = Structure("AddPredictionsArguments", (
    Part("walk", _walk), Part("leaves", _leaves), Array("tree_start", _I64, (('trees', 1),)),
    Array("leaf_by_leaf", _U8, (('trees', 0),)), Array("out", _F64, (('outputs', 0), ('rows', 0)), is_written=True),
))
_run_add_predictions = Kernel("add_predictions", _add_predictions)


def add_predictions(*, walk: Walk, leaves: Leaves, tree_start: Int64, leaf_by_leaf: UInt8, out: Float64) -> bool:
    return _run_add_predictions(locals())


_predict_rows = Structure("PredictRowsArguments", (
    Array("matrix", _F64, (('rows', 0), ('forest_columns', 0)), has_strides=True), Part("tables", _value_tables),
    Part("moves", _moves), Part("walk", _walk), Array("bits", _U64, (('bit_rows', 0), ('words', 0)), is_written=True),
    Part("leaves", _leaves), Array("tree_start", _I64, (('trees', 1),)), Array("leaf_by_leaf", _U8, (('trees', 0),)),
    Array("out", _F64, (('moves', 0), ('outputs', 0), ('rows', 0)), is_written=True),
))
_run_predict_rows = Kernel("predict_rows", _predict_rows)
_run_predict_rows_f32 = Kernel("predict_rows_f32", _predict_rows.retyped("matrix", _F32))
_run_predict_rows_u8 = Kernel("predict_rows_u8", _predict_rows.retyped("matrix", _U8))


def predict_rows(*,
    matrix: Float64 | Float32 | UInt8, tables: ValueTables, moves: Moves, walk: Walk, bits: UInt64, leaves: Leaves,
    tree_start: Int64, leaf_by_leaf: UInt8, out: Float64
) -> bool:
    return (_run_predict_rows_u8 if matrix.dtype == _U8 else _run_predict_rows_f32 if matrix.dtype == _F32 else _run_predict_rows)(locals())


_move_codes = Structure("MoveCodesArguments", (
    Array("place", _I32, (('groups', 0), ('rows', 0))), Array("on_levels", _U8, (('groups', 0),)),
    Array("nodes", _I32, (('groups', 0),)), Array("moving", _I32, (('moving_columns', 0),)),
    Array("moving_group", _I32, (('moving_columns', 0),)), Array("code_start", _I64, (('moving_columns', 0),)),
    Array("node_code", _I32, (('node_codes', 0),)), Array("codes", _I32, (('coded_columns', 0), ('rows', 0))),
    Array("before", _I32, (('coded_columns', 0), ('rows', 0)), is_written=True),
    Array("after", _I32, (('coded_columns', 0), ('rows', 0)), is_written=True),
    Array("unlike", _I64, (('', 1),), is_written=True),
))
_run_move_codes = Kernel("move_codes", _move_codes)


def move_codes(*,
    place: Int32, on_levels: UInt8, nodes: Int32, moving: Int32, moving_group: Int32, code_start: Int64,
    node_code: Int32, codes: Int32, before: Int32, after: Int32, unlike: Int64
) -> bool:
    return _run_move_codes(locals())


_add_local_moves = Structure("AddLocalMovesArguments", (
    Part("trees", _masked_trees), Number("link", is_whole=True), Number("factor", is_whole=False),
    Array("chosen", _I32, (('selected', 0),)), Array("sign", _F64, (('selected', 0),)),
    Array("on_levels", _U8, (('groups', 0),)), Array("place_start", _I64, (('groups', 0),)),
    Array("place", _I32, (('groups', 0), ('rows', 0))), Array("weight", _F64, (('rows', 0),)),
    Array("square", _F64, (('rows', 0),)), Array("segment", _I32, (('rows', 0),)),
    Array("own", _U64, (('bit_rows', 0), ('words', 0))), Array("before", _U64, (('bit_rows', 0), ('words', 0))),
    Array("after", _U64, (('bit_rows', 0), ('words', 0))),
    Array("counts", _F64, (('segments', 0), ('places', 0), ('', 3)), is_written=True),
    Array("changes", _F64, (('segments', 0), ('places', 0), ('by_output', 0)), is_written=True),
    Array("stop", _U8, (('', 1),)),
))
_run_add_local_moves = Kernel("add_local_moves", _add_local_moves)


def add_local_moves(*,
    trees: MaskedTrees, link: int, factor: float, chosen: Int32, sign: Float64, on_levels: UInt8, place_start: Int64,
    place: Int32, weight: Float64, square: Float64, segment: Int32, own: UInt64, before: UInt64, after: UInt64,
    counts: Float64, changes: Float64, stop: UInt8
) -> bool:
    return _run_add_local_moves(locals())


_regions_of_grids = Structure("RegionsOfGrids", (
    Array("masks", _U64, (('mask_words', 0),)), Array("start", _I64, (('axes', 0),)),
    Array("words", _I64, (('axes', 0),)), Array("first", _I64, (('axes', 1),)),
    Array("point_start", _I64, (('axes', 1),)),
))


class RegionsOfGrids(Given):
    def __init__(self, *, masks: UInt64, start: Int64, words: Int64, first: Int64, point_start: Int64) -> None:
        super().__init__(_regions_of_grids, dict(
            masks=masks, start=start, words=words, first=first, point_start=point_start
        ))


_count_runs = Structure("CountRunsArguments", (
    Part("regions", _regions_of_grids), Array("run_start", _I64, (('regions', 1),), is_written=True),
    Array("is_step", _U8, (('points', 0),), is_written=True),
))
_run_count_runs = Kernel("count_runs", _count_runs)


def count_runs(*, regions: RegionsOfGrids, run_start: Int64, is_step: UInt8) -> bool:
    return _run_count_runs(locals())


_find_runs = Structure("FindRunsArguments", (
    Part("regions", _regions_of_grids), Array("is_step", _U8, (('points', 0),)),
    Array("runs", _I32, (('runs', 0), ('', 2)), is_written=True),
    Array("run_axis", _I32, (('runs', 0),), is_written=True),
))
_run_find_runs = Kernel("find_runs", _find_runs)


def find_runs(*, regions: RegionsOfGrids, is_step: UInt8, runs: Int32, run_axis: Int32) -> bool:
    return _run_find_runs(locals())


_unfold = Structure("UnfoldArguments", (
    Array("point_start", _I64, (('axes', 1),)), Array("is_step", _U8, (('points', 0),)),
    Array("order", _I32, (('points', 0),)), Array("step_start", _I32, (('axes', 1),)),
    Array("first", _F64, (('kept_rows', 0), ('outputs', 0))),
    Array("changes", _F64, (('kept_rows', 0), ('outputs', 0), ('flat', 0))), Number("begin", is_whole=True),
    Number("rows", is_whole=True), Array("curves", _F64, (('curve_values', 0),), is_written=True),
))
_run_unfold = Kernel("unfold", _unfold)


def unfold(*,
    point_start: Int64, is_step: UInt8, order: Int32, step_start: Int32, first: Float64, changes: Float64, begin: int,
    rows: int, curves: Float64
) -> bool:
    return _run_unfold(locals())


__all__ = [
    "ALL", "ALSO", "COUNTED", "CrossTrees", "DONE", "EITHER_WAY", "EXPONENTIAL", "IDENTITY", "JOINT", "LOGISTIC",
    "Leaves", "MISSING", "MOST_NUMBERED", "MaskedTrees", "Moves", "NODE", "NO_MEMORY", "PAIRS", "PlanQuestion",
    "PlanSizes", "REST", "ROUTING_RULE", "RegionsOfAxes", "RegionsOfGrids", "SAME", "SINGLES", "SOFTMAX", "STOPPED",
    "SUBTREE", "StepTotals", "StepTrees", "SweepTrees", "TOO_LARGE", "UNUSED", "ValueTables", "Walk", "add_by_code",
    "add_changes", "add_corners", "add_differences", "add_family", "add_joint", "add_leaves", "add_local_moves",
    "add_others", "add_predictions", "add_steps", "add_sweeps", "audit_steps", "code_values", "count",
    "count_between_ranks", "count_codes", "count_in_cells", "count_moves", "count_rows", "count_runs", "count_up_to",
    "count_updates", "cross_pairs", "cross_singles", "encode", "extent", "fill_buckets", "find_never_together",
    "find_regions", "find_runs", "find_updates", "gather", "look_together", "look_up_surface", "measure_plan",
    "move_codes", "order_numbers", "pack", "pack_values", "predict_rows", "read_numbers", "region_shares", "resolve",
    "sum_surface", "sum_up", "survey", "tally", "turn", "unfold", "values_at_ranks", "write_plan"
]
