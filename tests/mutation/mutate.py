"""Tests that test: small faults put into a copy of the source, one at a time, that some test must notice.

``python tests/mutation/mutate.py [words]`` runs all mutations, or those whose file or text holds one of the
words, and names the survivors. Each runs only the tests that are about the mutated lines, stopping at
the first failure. A mutation whose line is no longer there is an error: it must follow the source.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from icefield.kernels import loading

ROOT = Path(__file__).parent.parent.parent
FOREST = "tests/forest/"
LIBRARIES = "tests/libraries/"
NATIVE = "kernels/native/"
BUILT = Path("icefield", "kernels", "built")


@dataclass(frozen=True)
class Mutation:
    """In `file`, the only `line` that holds `old` gets `new` instead; one of `tests` must then fail."""

    file: str
    old: str
    new: str
    tests: str

    @property
    def name(self) -> str:
        return f"{self.file}: {self.old} -> {self.new}"


def _of(file: str, tests: str, *changes: tuple[str, str]) -> list[Mutation]:
    return [Mutation(file, old, new, tests) for old, new in changes]


MUTATIONS = [
    *_of(
        "forest/check.py", FOREST + "test_check.py tests/core/test_engine.py",
        ("left = values <= forest", "left = values < forest"),
        ("left[candidates] = forest.condition_missing_left[condition[candidates]]", "pass"),
        ("| forest.condition_zero_missing[condition[candidates]]", ""),
        ("if agrees.all():", "if agrees.any():"),
        ("allowed = tree_model.tolerance *", "allowed = 1e6 * tree_model.tolerance *"),
        ("[: CHECKED_ROWS // 2]", "[:0]"),
        ("if predicted.shape != expected.shape:", "if False:"),
    ),
    *_of(
        "forest/form.py", FOREST + "test_form.py",
        ("(child > parents)", "(child >= parents)"),
        ("(tree[child] == tree[parents]).all()", "True"),
        ("np.isfinite(value).all()", "True"),
        ("(column < forest.n_columns)", "(column <= forest.n_columns)"),
    ),
    *_of(
        "forest/build.py", FOREST + "test_build.py",
        ("flags = 2 * missing_left.astype(np.int8) + zero_missing", "flags = missing_left.astype(np.int8)"),
        ("flags = 2 * missing_left.astype(np.int8) + zero_missing", "flags = zero_missing.astype(np.int8)"),
        ("np.where(number >= 0, number + len(sets), -1)", "number"),
        ("[np.maximum(leaf, 0)] * scale", "[np.maximum(leaf, 0)]"),
        ("kind = 2 * column + is_set", "kind = 2 * column"),
        ("if (parents > 1).any():", "if (parents > 2).any():"),
    ),
    *_of(
        "forest/encode.py", FOREST + "test_encode.py",
        ("else values >= 0.0", "else values > 0.0"),
        ("(whole < self.limit)", "(whole <= self.limit)"),
        ("np.where(out == sentinel, np.nan, out)", "out"),
        ("        if self.float32:\n", "        if not self.float32:\n"),
        ("high > limit", "high > limit + 1"),
        ("whole > -1.0 if", "whole > 0.0 if"),
        ("np.full(stored.shape, np.nan)", "np.zeros(stored.shape)"),
    ),
    *_of(
        "forest/links.py", FOREST + "test_links.py",
        ("np.asarray(-factor * raw)", "np.asarray(factor * raw)"),
        ("[1.0 - positive, positive]", "[positive, 1.0 - positive]"),
        ("-(2.0**-relative) - offset", "-(2.0**-relative) + offset"),
        ("start += width", "start += 1"),
    ),
    *_of(
        "libraries/sklearn/own_trees.py", LIBRARIES + "sklearn/test_own_trees.py " + LIBRARIES + "sklearn/test_own_leaves.py",
        ("value[:, k, :n] for k", "value[:, 0, :n] for k"),
        ('missing_left=records["missing_go_to_left"]', 'missing_left=1 - records["missing_go_to_left"]'),
        ("table.names[i] for i in [*first, *then]", "table.names[i] for i in [*then, *first]"),
        ("refuse_missing=not accepts_missing", "refuse_missing=accepts_missing"),
        ("(depth + more - 1.0)", "(depth + more)"),
        ("links.logistic(2.0)", "links.logistic()"),
        ("* model.learning_rate", "* 0.1"),
        ("share = 1.0 / len(trees)", "share = 1.0"),
        ("unknown_is_missing=True, refuse_infinite", "unknown_is_missing=False, refuse_infinite"),
    ),
    *_of(
        "libraries/lightgbm/trees.py", LIBRARIES + "lightgbm/test_lightgbm_trees.py",
        ("self.threshold >= 0.0, default_left", "self.threshold > 0.0, default_left"),
        ("(self.decision & DEFAULT_LEFT) > 0", "(self.decision & DEFAULT_LEFT) == 0"),
        ("return ~self.is_set & np.where", "return self.is_set | np.where"),
        ("links.scaled(1.0 / n_iterations)", "links.scaled(1.0)"),
        ("self.missing_type == MISSING_ZERO", "self.missing_type == MISSING_NAN"),
        ("levels_in_order(levels, unknown_is_missing=True)", "levels_in_order(levels, unknown_is_missing=False)"),
        ("first[tree_of_set] + self.threshold", "self.threshold"),
        ('links.logistic(float(options["sigmoid"]))', "links.logistic()"),
        ("negative_fraction_is_zero=True", "negative_fraction_is_zero=False"),
    ),
    *_of(
        "libraries/xgboost/trees.py", LIBRARIES + "xgboost/test_xgboost_trees.py",
        ("np.nextafter(condition, np.float32(-np.inf))", "condition"),
        ("missing_left=default_left ^ is_set", "missing_left=default_left"),
        ("int(wrapper.best_iteration) + 1", "int(wrapper.best_iteration)"),
        ("return np.log, links.exponential()", "return np.asarray, links.exponential()"),
        ("np.where(is_set, right, left) + start", "left + start"),
        ("value * np.repeat(weights, n_nodes)[:, None]", "value"),
        ("refuse_infinite=wrapper is None", "refuse_infinite=wrapper is not None"),
        ("absent_is_missing=True", "absent_is_missing=False"),
    ),
    *_of(
        "libraries/catboost/trees.py", LIBRARIES + "catboost/test_catboost_trees.py",
        ('"AsTrue": False', '"AsTrue": True'),
        ("np.where(is_set, lower + 1, lower)", "np.where(is_set, lower, lower + 1)"),
        ('reversed(tree["splits"] or [])', '(tree["splits"] or [])'),
        ("nodes.value = nodes.value * scale", "nodes.value = nodes.value * 1.0"),
        ("below[::-1] if test[3] >= 0", "below if test[3] >= 0"),
        ("Numbers(float32=True)", "Numbers()"),
    ),
    *_of(
        "forest/combine.py", LIBRARIES + "sklearn/test_member_trees.py",
        ("weight * member.forest.base", "member.forest.base"),
        ("scales = list(weights)", "scales = [1.0] * len(members)"),
        ("start + np.arange(width)", "np.arange(width)"),
    ),
    *_of(
        "libraries/sklearn/member_trees.py", LIBRARIES + "sklearn/test_member_trees.py",
        ("weights / weights.sum()", "weights / len(weights)"),
        ("[int(place) for place in estimator.classes_]", "list(range(len(estimator.classes_)))"),
    ),
    *_of(
        "libraries/sklearn/pipeline_trees.py", LIBRARIES + "sklearn/test_pipeline_trees.py tests/core/test_engine.py",
        ("elif len(sources) > 1 and split_columns &", "elif len(sources) > 1 and not split_columns &"),
        ("if len(sources) == 1 and name in inner.drives:", "if name in inner.drives:"),
    ),
    *_of(
        "models/tree_reading.py", "tests/core/test_engine.py",
        ("selected=tuple(range(len(model.all_outputs)))", "selected=model.selected"),
        ("    if difference is None:\n", "    if True:\n"),
    ),
    *_of(
        "core/question.py", "tests/core/test_question.py",
        ("mean = self.mean + shift * (other.weight / weight)", "mean = self.mean + shift * (self.weight / weight)"),
        ("self.m2 + other.m2 + np.square", "self.m2 + other.m2 - np.square"),
        ("variance / (rows - 1.0)", "variance / rows"),
        ("np.sqrt(self.m2 / self.weight)", "np.sqrt(self.m2 / self.count)"),
    ),
    *_of(
        "engines/training/engine.py", "tests/engines/test_training.py",
        ("or question.rows is not None:", "or False:"),
        ("if question.spread or", "if False or"),
        ("mean[self.selected]", "mean"),
        ('if scale != "raw" and not', 'if scale == "raw" and not'),
        ("if sample.weights is not None or sample.codes is not None:", "if False:"),
    ),
    *_of(
        NATIVE + "predictions.cpp", "tests/engines/test_predictions.py",
        ("if (a_.leaf_by_leaf[tree_]) {", "if (false) {"),
        ("memset(digits_.data(), 0, sizeof(u64) * n_digits * words_);", ""),
        ("if ((number >> digit & 1) == 0) continue;", ""),
        ("out[r] += values[number[r] * width];", "out[r] += values[number[r]];"),
    ),
    *_of(
        NATIVE + "reading.cpp", "tests/kernels/test_kernel_reading.py",
        ("(wanted == above && !is_even)", "(wanted == above && is_even)"),
        ("if (whole <= EXACT_DIGITS / 2 || whole >= EXACT_DIGITS) return false;", ""),
        ("if (is_negative) found = -found;", ""),
        ("if (!any || n_digits > MOST_DIGITS) return false;", "if (!any) return false;"),
        ("places += shrinks ? power : -power;", "places += power;"),
    ),
    *_of(
        "libraries/lightgbm/format.py", LIBRARIES + "lightgbm/test_lightgbm_format.py",
        ("start + count\n", "start + count + 1\n"),
        ("iterations = best if best > 0 else", "iterations = best if best > 90 else"),
        ("ended = all(", "ended = any("),
        ("(np.abs(values) < LARGEST_EXACT).all() and", ""),
    ),
    *_of(
        "libraries/xgboost/binary.py", LIBRARIES + "xgboost/test_xgboost_binary.py",
        ("if end != len(raw):", "if False:"),
        ("if end > len(raw):", "if False:"),
        ("size < 0", "False"),
    ),
    *_of(
        NATIVE + "looking.cpp", "tests/kernels/test_looking.py tests/data/test_column_summary.py",
        ("is_finite & (x > most) ? x : most", "x > most ? x : most"),
        ("place < last ? place : last;", "place < last ? place : last - 1;"),
        ("(x >= low) & (x <= high)", "(x > low) & (x <= high)"),
        ("if (!wanted[found[r]]) continue;", ""),
        ("begin < NEAR ? matrix.rows : begin + NEAR", "begin < NEAR ? begin : begin + NEAR"),
        ("found += values[i] <= limit;", "found += values[i] < limit;"),
        ("if (starts[middle] <= rank) {", "if (starts[middle] < rank) {"),
        ("values[found] <= limit ?", "values[found] < limit ?"),
        ("if (x <= limits_[middle]) {", "if (x < limits_[middle]) {"),
        ("if (kept[i] != kept[starts[c]]) return 0;", "{}"),
        ("missing += values[r] != values[r];", "missing += 1;"),
    ),
    *_of(
        "statistics/similarity.py", "tests/statistics/test_similarity.py",
        ("ends[np.searchsorted(ends, cuts)]", "cuts"),
        ("compared.known[self._rows[: self._finite]]", "np.ones(self._finite, bool)"),
        ("np.count_nonzero(one.known[rest])", "0"),
        ("np.where(codes < 0, len(column.levels), codes)", "np.maximum(codes, 0)"),
        (" or part.name in each.columns", ""),
        ("weights = None if self.unweighted else self.weights[rows]", "weights = None"),
        ("if not self._compared.unweighted:", "if False:"),
        ("np.where(compared.known, compared.places + begin, beyond)", "compared.places + begin"),
    ),
    *_of(
        "data/features.py", "tests/data/test_features.py",
        ("found[missing_at[0]] = len(column) - counts.sum()", "pass"),
        ("counts[place >= 0], minlength", "np.ones(len(place))[place >= 0], minlength"),
    ),
    *_of(
        "data/frame_table.py", "tests/data/test_frame.py",
        ("set_axis(frame.columns, axis=1).__finalize__(frame)", "set_axis(frame.columns, axis=1)"),
        ("moved[name] if name in moved else frame[name]", "frame[name]"),
    ),
    *_of(
        "engines/trees/grid_steps.py", "tests/engines/test_axes.py tests/engines/test_linked.py",
        ("out[..., axis.order] = np.cumsum(steps, axis=-1)", "out[...] = np.cumsum(steps, axis=-1)"),
    ),
    *_of(
        "engines/trees/axes.py", "tests/engines/test_axes.py",
        ("kinds[a] == kinds[waiting[0]] and taken.isdisjoint", "taken.isdisjoint"),
        ("taken.update(moved[a])", "pass"),
    ),
    *_of(
        NATIVE + "packing.cpp", "tests/kernels/test_packing.py tests/kernels/test_kernel_counting.py",
        ("cuts[at[r] + step - 1] < values[r]", "cuts[at[r] + step - 1] <= values[r]"),
        ("at[r] = cuts[at[r]] == values[r] ? at[r] : count;", "{}"),
        ("fabs(values[r]) <= zero", "fabs(values[r]) < zero"),
        ("if (a.row_missing_left[row]) unite", "unite"),
        ("values[r] != values[r] ? NO_CODE :", ""),
        ("row[p] < 0 ? Held<V>::NONE :", ""),
    ),
    *_of(
        NATIVE + "value_bits.hpp", "tests/kernels/test_packing.py tests/kernels/test_kernel_counting.py",
        ("cuts()[cut]) & ~without_code_[w];", "cuts()[cut]);"),
        ("found & here[w]", "found"),
        ("bits[w] |= missing_[w];", "{}"),
        ("each_bit(without_code_[w]", "each_bit(missing_[w]"),
        ("cut[at[r] + step - 1] < own[r]", "cut[at[r] + step - 1] <= own[r]"),
        ("code_row[c + 1] >= 0 ? code_row[c + 1] : end", "code_row[c] + 1"),
        ("above < last ? above : last", "above < 9.0 ? above : last - 1.0"),
        ("count >= WORD ? ~u64{0}", "count > WORD ? ~u64{0}"),
        ("cut[at[r]] == own[r] ? codes[r] : NO_CODE", "codes[r]"),
        ("found[w] |= rows[a_.members[m]][w];", "found[w] = rows[a_.members[m]][w];"),
        ("~codes_at_most(own, NO_CODE - 1) & here[w];", "~codes_at_most(own, NO_CODE - 1);"),
        ("missing_[w] &= here[w];", "{}"),
        ("missing_[w] |= static_cast<u64>(missing_of[own[r]]) << r;", "{}"),
        ("found[r] = code_of[own[r]];", "found[r] = own[r];"),
    ),
    *_of(
        "engines/trees/coding.py", "tests/kernels/test_packing.py tests/engines/test_frames.py",
        ("parts += [members, np.nextafter(members, -np.inf)]", "parts += [members]"),
        ("np.nextafter(-ZERO_THRESHOLD, -np.inf), ZERO_THRESHOLD", "-ZERO_THRESHOLD, 0.0"),
        ("own[: found.size + 1] = [*found, np.inf]", "own[: found.size] = found"),
        ("np.take(self.codes, positions, axis=1)", "self.codes[:, : len(positions)]"),
    ),
    *_of(
        "engines/trees/layout.py", "tests/kernels/test_packing.py tests/engines/test_frames.py",
        ("(own == self.search.count[:, None])", "(own < 0)"),
        ("alike = ((codes == size) & ~missing)", "alike = ((codes == size) | missing)"),
        ("place = coding.place[self.column]", "place = self.column"),
    ),
    *_of(
        "engines/trees/layout.py", "tests/kernels/test_kernel_counting.py tests/engines/test_row_counting.py",
        ("self.layout.row_start[v + 1]] = 1", "self.layout.row_start[v + 1]] = 0"),
        ("slice(first_row + start, first_row + stop)", "slice(start, stop)"),
        ("self.known[v, rows] = True", "self.known[v] = True"),
    ),
    *_of(
        "data/table.py", "tests/data/test_row_values.py tests/data/test_frame.py tests/engines/test_frames.py",
        ("(self.origin[0], self.origin[1][at])", "(self.origin[0], at)"),
        ("return read.part(self.origin[1]) if", "return read if"),
    ),
    *_of(
        NATIVE + "leaf_masks.hpp", "tests/engines/test_linked.py",
        ("(passed ^ flip_of(test))", "passed"),
        ("masks(rows_, t_.regions(r, 1)) & (passed", "(passed"),
        ("masks(path_, i) & after;", "masks(path_, i);"),
        ("t_.leaf_value(leaf, o)", "t_.leaf_value(leaf, 0)"),
        ("(output < 0 ? o : output) * WORD", "o * WORD"),
        ("return lists > 1 ? 0 : output;", "return 0;"),
    ),
    *_of(
        NATIVE + "sweeps.cpp", "tests/engines/test_linked.py",
        ("rows.weight[r] = r < rows.number ? t_.weight[first + r] : 0.0;", "rows.weight[r] = t_.weight[r < rows.number ? first + r : first];"),
        ("!= rows.alone) rows.alone = -1;", "!= rows.alone) {}"),
        ("masks_.others(e, word) & ~flip_of(what)", "masks_.others(e, word)"),
        ("if (skips_empty && rows == 0) continue;\n                if constexpr", "if (skips_empty && rows != 0) continue;\n                if constexpr"),
        ("sums_[2 * o + 1] = squared;", "{}"),
        ("(begin - m_.entry_list[group * of_.lists]) * words", "0"),
        ("changed & used, 0,", "changed, 0,"),
        ("(now + before - about)", "(now - about)"),
    ),
    *_of(
        NATIVE + "lanes.hpp", "tests/engines/test_linked.py",
        ("(v[0] + v[4]) + (v[2] + v[6])", "(v[0] + v[4]) + (v[2] + v[2])"),
        ("rows >> (SIDE_BY_SIDE * i)", "rows >> (i)"),
    ),
    *_of(
        NATIVE + "step_sums.hpp", "tests/engines/test_linked.py",
        ("if (position == last) break;", ""),
        ("f64 before = own_[curve.row * outputs_ + output];", "f64 before = own_[output];"),
        ("(now + before - about)", "(now - about)"),
        ("change[o] = 0.0;", ""),
    ),
    *_of(
        NATIVE + "grids.cpp", "tests/kernels/test_grids.py",
        ("carry = word >> 63;", ""),
        ("if (carry != 0 && size % WORD == 0) see(size);", ""),
        ("if (point < size) is_step[point] = 1;", "is_step[point] = 1;"),
        ("value = first + changed;", "value = changed;"),
        ("curve[order[p]]", "curve[p]"),
        ("(o * a.rows + a.begin + row) * size", "(o * a.rows + row) * size"),
    ),
    *_of(
        NATIVE + "crossing.cpp", "tests/engines/test_h_linked.py",
        ("if (own != 0) sign = -sign;", ""),
        ("stays &= p != changed[g]", "stays = p != changed[g]"),
        ("moving[g][w] ^ own", "moving[g][w]"),
        ("total += t_.weight[i] * response[i]", "total += response[i]"),
        ("+ more[plane + i] + third[plane + i]", "+ more[plane + i]"),
    ),
    *_of(
        NATIVE + "planning.cpp", "tests/kernels/test_kernel_planning.py tests/kernels/test_kernel_counting.py",
        ("is_new ? -1 : as_i32(parent_region[element - 1])", "-1"),
        ("x == 0 ? 0 : pair_slot(0, x)", "0"),
        ("from.is_open ? SAME : here.counted", "here.counted"),
        ("n_.counters += slots_here(here.depth);", "++n_.counters;"),
        ("if (q_.mode == JOINT) tag = EITHER_WAY;", ""),
        ("slot == 0 ? COUNTED : ALSO", "COUNTED"),
        ("if (own.top > n_.buffers) n_.buffers = own.top;", ""),
        ("fits_ &= fits_i32(value);", ""),
        ("all &= fits_i32(size);", ""),
    ),
    *_of(
        NATIVE + "lists.hpp", "tests/kernels/test_kernel_counting.py tests/kernels/test_kernel_leaves.py",
        ("slot > 0 ? mask[w] & ~plain[w] : mask[w]", "mask[w]"),
        ("(held == 0) | (held == tag)", "held == 0"),
        ("stack[left_end] = left ? entry : wrong;", "stack[left_end] = entry;"),
    ),
    *_of(
        NATIVE + "nodes.hpp", "tests/kernels/test_kernel_counting.py tests/kernels/test_kernel_leaves.py",
        ("(code <= rule.threshold) |", "(code < rule.threshold) |"),
        ("(code == MISSING) & (rule.missing_left != 0)", "code == MISSING"),
    ),
    *_of(
        NATIVE + "counting.cpp", "tests/kernels/test_kernel_counting.py tests/engines/test_row_counting.py",
        ("u64 kept = first_bits(n - w * WORD)", "u64 kept = ~u64{0}"),
        ("<< p;", "<< 0;"),
        ("count[s] = origin[s] - counter[s]", "count[s] = counter[s]"),
        ("+= a.weight_of[row]", "+= 1"),
        ("a.segment_of[row]", "0"),
        ("apart || moved_[test] != 0", "moved_[test] != 0"),
        ("differs(m, now.target) = differs_here;", "differs(m, now.target) = 0;"),
        ("moved_[test] != 0 ? m : 0", "0"),
        ("apart ? mask(m, now.source) : source", "source"),
        ("++row) moved[row] = 1;", "++row) moved[row] = 0;"),
        ("i64 found = first;", "i64 found = 0;"),
    ),
    *_of(
        NATIVE + "curves.cpp", "tests/kernels/test_kernel_leaves.py tests/kernels/test_kernel_averages.py",
        ("visit(a.differences.row(output, at), a.update_sign[u]", "visit(a.differences.row(output, at), 1.0"),
        ("sum[r] += line_before[r];", ""),
        ("line % a.middle != 0", "line != 0"),
    ),
    *_of(
        NATIVE + "local_moves.cpp", "tests/engines/test_ale_sums.py",
        ("low = on_levels ? at - 1 : at", "low = at"),
        ("high <= last ?", "high < last ?"),
        ("node_code[at] != own[r]", "false"),
        ("(others & before_.of(region, word)) ^ own", "before_.of(region, word) ^ own"),
        ("(others & after_.of(region, word)) ^ own", "(others & before_.of(region, word)) ^ own"),
        ("if ((low | high) == 0) continue;", "if (low == 0) continue;"),
        ("before.change(low & own, goes);", ""),
        ("after.change(high & ~own, comes);", "after.change(high, comes);"),
        ("held[o * WORD + r] /= work_[r]", "held[o * WORD + r] /= work_[0]"),
        ("own[6] += square * apart *", "own[6] += square * also *"),
        ("const f64 share = square / count[2]", "const f64 share = weight / count[1]"),
        ("a_.sign[o] * (after[raw]", "(after[raw]"),
        ("if (place < 0) continue;", "if (place < -1) continue;"),
    ),
    *_of(
        NATIVE + "moves.cpp", "tests/engines/test_ale_differences.py tests/kernels/test_kernel_leaves.py",
        ("a.edge_sign[e] * a.edge_sign[f]", "a.edge_sign[e]"),
        ("own, own, a.edge_sign[e]", "own, own, 1.0"),
        ("rows[w] & own[w] & other[w]", "rows[w] & own[w]"),
        ("a.change(region, a.steps(axis, row)) : 0", "a.change(region, a.steps(axis, row)) : 1"),
        ("static_cast<f64>(crossed)", "1.0"),
        ("a.corners(corner, axis, row)", "a.corners(0, axis, row)"),
        ("a.step_bits.data[i] = 0;", "{}"),
    ),
    *_of(
        NATIVE + "others.cpp", "tests/engines/test_trees.py tests/kernels/test_kernel_leaves.py -k own_averages or others",
        ("positions_of(rows[w] & ~own_[w],", "positions_of(rows[w],"),
        ("leaf == leaf_ ? slot_ + 1 : 0", "leaf == leaf_ ? 1 : 0"),
        ("found, a_.path_share[p] - 1.0", "found, 0.0"),
        ("row, a.path_share[p] - 1.0", "row, 0.0"),
        ("tag = tag_of(entry)", "tag = tag_of(entry) >> 4"),
    ),
    *_of(
        NATIVE + "regions.cpp", "tests/kernels/test_kernel_averages.py",
        ("total += sign[run] * weight_from", "total += weight_from"),
        ("before < 0 ? a.everything.data : a.regions.row(a.rank[before])", "a.everything.data"),
    ),
    *_of(
        NATIVE + "selection.hpp", "tests/kernels/test_looking.py tests/data/test_at_ranks.py",
        ("if (k <= j) {", "if (k < j) {"),
    ),
    *_of(
        NATIVE + "ranks.cpp", "tests/data/test_at_ranks.py",
        ("while (below + count_[wanted] <= rank)", "while (below + count_[wanted] < rank)"),
        ("count_[c] = 0;", "count_[c] += 0;"),
        ("is_number &= lane[r] == lane[r];", ""),
        ("found, rank - below)", "found, 0)"),
        ("place > 0.0 ?", "true ?"),
        ("i64 beyond = finite;", "i64 beyond = 0;"),
        ("{is_finite ? values[r] : HUGE_VAL, r}", "{values[r], r}"),
        ("moved.value < numbers[at - 1].value", "false"),
        ("first = i;\n        } else {", "first = i + 1;\n        } else {"),
    ),
    *_of(
        NATIVE + "counting.cpp", "tests/data/test_code_counts.py",
        ("to_find -= left[cell];", "--to_find;"),
        ("by_chance >= a.least;", "by_chance > a.least;"),
        ("left[cell] = 0;", ""),
        ("? first + AT_ONCE : rows", "? first + 1 : rows"),
        ("now[level] = 0;", ""),
        ("ranked_rows[s] += place[s] < levels;", "++ranked_rows[s];"),
        ("is_reached == 0 || a.is_last[i] == 0", "is_reached == 0"),
        ("if (ranked[s] > next[s]) end_segment(s);", "end_segment(s);"),
        ("a.ranks(s, cut[s]) < ranked[s]", "a.ranks(s, cut[s]) < 0"),
    ),
    *_of(
        NATIVE + "families.cpp", "tests/kernels/test_kernel_averages.py",
        ("along_first[j] += a.differences", "along_first[j] = a.differences"),
        ("along_first[j] = 0.0;", "along_first[j] += 0.0;"),
        ("level + a.second(o, j) + both", "level + both"),
        ("a.surface(o, a.first_of[r], a.second_of[r])", "a.surface(0, a.first_of[r], a.second_of[r])"),
        ("swapped ? y : x, swapped ? x : y", "x, y"),
        ("row[0] -= outer_runs.sign[i] * first_alone * value;", ""),
        ("surface[0] += neither * value;", ""),
    ),
    *_of(
        NATIVE + "updates.cpp", "tests/kernels/test_kernel_averages.py",
        ("axis >= axes_ - 2", "axis >= axes_ - 1"),
        ("product *= sign_[axis * width_ + index_[axis]];", ""),
        ("|| !fits_i32(points)", ""),
    ),
    *_of(
        "engines/trees/h_statistic.py", "tests/engines/test_trees.py -k own_averages",
        ("found[0] += counted.sums.base[:, None]", "pass"),
        ("return share[found.on_paths(program)]", "return np.ones(int(program.path_start[-1]))"),
    ),
    *_of(
        "engines/trees/ale_differences.py", "tests/engines/test_ale_differences.py",
        ("len(self.axes) - sum(corner)", "sum(corner)"),
        ("inside[:, axis.order] = flags", "inside[:] = flags"),
        ("concerned[trees]", "~concerned[trees]"),
        ("self.link(sums + self.sums.base)", "self.link(sums)"),
    ),
    *_of(
        "engines/trees/encoded.py", "tests/engines/test_encoded.py",
        ("np.take(self.matrix, positions, axis=0)", "self.matrix[: len(positions)]"),
        ("self.matrix[start:stop]", "self.matrix[: stop - start]"),
        ("self._kept[table] = found", "pass"),
        ("8 * size <= part", "8 * size < part"),
    ),
    *_of(
        "engines/training/training_averages.py", "tests/engines/test_training.py",
        ("+ sums.base.reshape(", "- sums.base.reshape("),
        ("np.where(moving, 1.0, batch", "np.where(moving, 0.5, batch"),
    ),
    *_of(
        "data/column_statistics.py", "tests/data/test_column_statistics.py",
        ("flat *= length", "flat *= length + 1"),
        ("known = group >= 0", "known = group >= 1"),
        ("has &= at >= 0", "has &= at >= -1"),
        ("None if self.weights is None else self.weights[rows]", "None"),
    ),
]  # fmt: skip


def survivors(mutations: list[Mutation]) -> list[str]:
    """Names of the mutations no test noticed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy)
        _check_that_the_copy_is_used(copy)
        for tests in dict.fromkeys(mutation.tests for mutation in mutations):
            if not _pass(tests, copy):  # else every mutation would seem to be noticed
                raise RuntimeError(f"{tests} fails without any mutation")
        return [mutation.name for mutation in mutations if not _noticed(mutation, copy)]


def _noticed(mutation: Mutation, copy: Path) -> bool:
    path = copy / "icefield" / mutation.file
    original = path.read_text()
    if original.count(mutation.old) != 1:
        raise LookupError(
            f"{mutation.file} holds {mutation.old!r} {original.count(mutation.old)} times, not once"
        )
    path.write_text(original.replace(mutation.old, mutation.new))
    try:
        if mutation.file.startswith(NATIVE):
            _compile(copy)
        survived = _pass(mutation.tests, copy)
    finally:
        path.write_text(original)
        if mutation.file.startswith(NATIVE):
            shutil.rmtree(copy / BUILT)
            shutil.copytree(ROOT / "src" / BUILT, copy / BUILT)
    print("survived" if survived else "noticed ", mutation.name, flush=True)
    return not survived


def _compile(copy: Path) -> None:
    """Build the copy's kernels for the lowest level alone, which any machine runs."""
    lowest = loading._found()[0].stem.removeprefix("kernels-")
    shutil.rmtree(copy / BUILT)
    command = [sys.executable, str(ROOT / "build_kernels.py"), "--only", lowest]
    subprocess.run(
        [*command, "--kernels", str(copy / "icefield" / "kernels")], check=True, capture_output=True
    )


def _pass(tests: str, copy: Path) -> bool:
    files, _, keywords = tests.partition(" -k ")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-m",
        "not slow",
        "--unsampled",
        "-k",
        keywords,
        *files.split(),
    ]
    status = subprocess.run(command, cwd=ROOT, env=_environment(copy), capture_output=True).returncode
    if status < 0:  # a kernel that writes where it must not
        return False
    if status not in (0, 1, 2):  # passed, failed, or the mutated package could not be imported
        raise RuntimeError(f"pytest ended with {status} for {tests}")
    return status == 0


def _environment(copy: Path) -> dict[str, str]:
    # Stale byte code would hide a mutation made within the same second as another.
    return {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}


def _check_that_the_copy_is_used(copy: Path) -> None:
    asked = "import icefield; print(icefield.__file__)"
    answer = subprocess.run(
        [sys.executable, "-c", asked], env=_environment(copy), capture_output=True, text=True, check=True
    )
    if not answer.stdout.startswith(str(copy)):
        raise RuntimeError(f"tests would run against {answer.stdout.strip()}, not against the copy")


if __name__ == "__main__":
    words = sys.argv[1:]
    chosen = [m for m in MUTATIONS if not words or any(word in m.name for word in words)]
    found = survivors(chosen)
    print(f"{len(chosen) - len(found)} of {len(chosen)} mutations were noticed")
    sys.exit(1 if found else 0)
