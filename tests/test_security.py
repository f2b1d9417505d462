"""SECURITY.md: every statement of what is defended is held by tests, which are named here and exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "SECURITY.md"

# How a statement begins -> the tests that hold it, as "file::function".
HELD_BY = {
    "Pickles are refused": ["cli/test_loading.py::test_a_hostile_model_file_is_refused"],
    "Types outside the allow-list": [
        "cli/test_loading.py::test_a_hostile_model_file_is_refused",
        "cli/test_loading.py::test_skops_asks_for_trust_and_takes_it",
    ],
    "Files called like modules": [
        "libraries/test_child_process.py::test_a_child_imports_nothing_from_the_working_folder",
        "libraries/test_child_process.py::test_processes_for_a_model_import_nothing_from_the_working_folder",
        "cli/test_loading.py::test_files_beside_a_model_are_not_run",
    ],
    "Boosters in their libraries' own formats": [
        "cli/test_loading.py::test_a_corrupt_model_file_ends_in_the_child",
        "libraries/test_native_files.py::test_a_crash_in_the_library_is_an_error",
        "fuzz/test_fuzz.py::test_a_short_run",
    ],
    "The child process has limits": [
        "libraries/test_child_process.py::test_a_child_that_loops_is_ended_by_the_system",
        "libraries/test_child_process.py::test_a_child_that_waits_is_ended",
        "libraries/test_child_process.py::test_a_child_cannot_take_the_machine_s_memory",
        "libraries/test_child_process.py::test_hard_limits_of_the_caller_hold_and_do_not_fail",
    ],
    "The child process ends": ["libraries/test_child_process.py::test_a_child_ends_with_its_parent"],
    "Links, columns, counts": [
        "libraries/test_validation.py::test_links_that_are_no_tree",
        "libraries/test_damaged_models.py::test_damaged_lightgbm_trees",
        "libraries/test_damaged_models.py::test_damaged_xgboost_trees",
        "libraries/test_damaged_models.py::test_damaged_catboost_documents",
        "libraries/test_damaged_models.py::test_damaged_trees_of_scikit_learn",
        "libraries/test_damaged_models.py::test_damaged_trees_of_histogram_boosting",
    ],
    "Trees that do not predict": [
        "forest/test_check.py::test_a_leaf_that_differs_is_told",
        "forest/test_check.py::test_one_leaf_of_any_size_does_not_make_the_others_right",
        "forest/test_check.py::test_a_check_that_is_not_finite_fails",
    ],
    "CSV whose lines": [
        "rows/test_csv_text.py::test_what_is_no_table_is_refused_with_its_line",
        "rows/test_csv_text.py::test_lines_are_found_beyond_the_first_block",
    ],
    "Parquet files that announce": ["cli/test_loading.py::test_files_too_large_for_the_machine_are_refused"],
    "Saved effects are numbers": [
        "effect/test_storage.py::test_nothing_in_the_file_is_a_pickle",
        "effect/test_storage.py::test_corrupt_files_are_refused",
        "effect/test_storage.py::test_files_of_other_kinds_are_refused",
    ],
    "Credentials that were passed": [
        "rows/test_stores.py::test_what_options_hold_is_masked_however_it_is_written",
        "rows/test_stores.py::test_an_error_of_a_store_is_masked_and_comes_without_its_cause",
        "stores/test_s3.py::test_no_text_shows_credentials",
        "stores/test_s3.py::test_wrong_credentials_are_an_error_that_does_not_show_them",
    ],
    "Checkpoints are numbers": [
        "rows/test_checkpoint.py::test_other_data_another_model_and_another_question_are_refused",
        "rows/test_checkpoint.py::test_a_file_that_is_no_checkpoint_is_refused_and_left_alone",
        "fuzz/test_fuzz.py::test_a_short_run",
    ],
    "No file that is read": [
        "cli/test_command_errors.py::test_no_file_of_a_folder_or_glob_is_written_to",
        "cli/test_command_errors.py::test_what_cannot_be_written_is_found_before_anything_is_loaded",
    ],
    "Every output replaces": [
        "effect/test_whole_files.py::test_a_full_disk_leaves_every_output_as_it_was",
        "effect/test_whole_files.py::test_a_kill_leaves_the_file_before",
    ],
    "Names from the data and the model": ["report/test_hostile.py::test_hostile_names_values_groups_and_title"],
    "Tables saved from a report": ["report/test_hostile.py::test_a_spreadsheet_does_not_run_the_csv"],
    "Names from files": ["cli/test_commands.py::test_names_cannot_steer_the_terminal"],
    "`serve` listens on this machine only": [
        "explore/test_server.py::test_another_name_for_this_machine_is_not_served",
        "explore/test_server.py::test_the_page_comes_with_a_policy_and_without_the_secret",
        "explore/test_explore_commands.py::test_serve_prints_an_address_that_answers_and_ends_when_interrupted",
    ],
    "A connection needs": [
        "explore/test_server.py::test_without_the_token_nothing_is_answered",
        "explore/test_server.py::test_a_foreign_page_cannot_connect",
        "explore/test_page.py::test_a_page_of_another_origin_gets_nothing_though_it_knows_the_secret",
    ],
    "The secret is 256": [
        "explore/test_server.py::test_the_page_comes_with_a_policy_and_without_the_secret",
        "explore/test_server.py::test_a_secret_from_the_environment_is_kept_and_never_shown_when_wrong",
        "explore/test_explore_commands.py::test_a_killed_server_is_told_and_its_successor_is_reconnected_to",
    ],
    "Messages that are malformed": [
        "explore/test_controller.py::test_a_thousand_malformed_requests_are_answered_and_nothing_breaks",
        "explore/test_server.py::test_a_thousand_malformed_messages_leave_the_connection_alive",
        "explore/test_server.py::test_bad_messages_are_answered_and_large_ones_end_the_connection",
        "explore/test_server.py::test_who_asks_too_much_is_slowed",
        "explore/test_controller.py::test_work_beyond_its_time_is_stopped_and_says_so",
    ],
    "Rules of filters are data": [
        "explore/test_controller.py::test_a_thousand_malformed_requests_are_answered_and_nothing_breaks"
    ],
    "Single rows leave Python": [
        "explore/test_controller.py::test_at_most_twenty_thousand_points_leave",
        "explore/test_controller.py::test_rows_may_stay_in_the_process",
    ],
    "Names and values are shown": ["explore/test_page.py::test_hostile_names_are_shown_as_text"],
    "What comes back from Spark and Ray": [
        "rows/distributed/test_contract.py::test_pickles_that_come_back_are_not_loaded",
        "rows/distributed/test_contract.py::test_a_text_that_only_looks_like_a_failure_is_text",
    ],
    "Errors of workers become": [
        "rows/distributed/test_contract.py::test_errors_of_icefield_s_keep_their_class_and_fields",
        "rows/distributed/test_contract.py::test_a_forged_failure_chooses_no_class_but_icefield_s",
    ],
}  # fmt: skip


def statements() -> list[str]:
    """The list items of what is defended."""
    text = PAGE.read_text(encoding="utf-8")
    defended = text.partition("## What is defended")[2].partition("\n## ")[0]
    return re.findall(r"^- (.+)$", defended, flags=re.MULTILINE)


def test_every_statement_is_held_by_tests() -> None:
    said = statements()
    assert len(said) == len(HELD_BY)
    for statement in said:
        assert sum(statement.startswith(begin) for begin in HELD_BY) == 1, statement


@pytest.mark.parametrize("begin", HELD_BY)
def test_the_tests_exist(begin: str) -> None:
    for test in HELD_BY[begin]:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8"), test
