//! The macro that makes a test of every behaviour.

/// Expands to one `#[test]` for each behaviour of the suite, in a module for each noun. The
/// argument is an expression that makes a [`Harness`](crate::conformance::Harness); each test makes
/// its own.
#[macro_export]
macro_rules! conformance_suite {
    ($harness:expr) => {
        $crate::conformance_suite! { @behaviours $harness;
            spaces {
                a_space_is_listed_with_its_name_and_shape,
                spaces_are_listed_by_ascending_number,
                a_name_can_be_used_only_once,
                a_dropped_space_is_not_found,
                a_dropped_name_starts_anew_under_a_new_number,
                dropping_a_space_leaves_the_others,
                rows_of_one_space_are_unseen_in_another,
                spaces_are_the_same_after_reopen,
                a_number_is_never_used_twice,
            }
            reads {
                no_keys_find_no_rows,
                rows_come_in_the_order_of_the_keys,
                a_key_asked_for_twice_is_answered_twice,
                keys_only_leaves_out_the_values,
                a_read_clears_the_batch_first,
                bytes_of_every_kind_come_back,
                a_large_batch_of_keys_is_answered_in_one_call,
                a_read_of_some_keys_keeps_to_its_bytes,
                a_row_larger_than_the_bytes_of_a_read_still_comes,
                missing_keys_do_not_end_a_read_of_some,
                rows_are_the_same_after_reopen,
            }
            scans {
                a_range_holds_its_start_and_not_its_end,
                rows_of_a_shard_key_come_in_key_order,
                ranges_come_one_after_another,
                an_unordered_scan_gives_every_row_once,
                a_whole_space_is_scanned_in_order_under_each_shard_key,
                a_range_across_shard_keys_needs_a_total_order,
                the_parts_of_a_space_hold_every_row_once,
                parts_between_shard_keys_keep_each_together,
                an_empty_space_is_one_part,
                parts_and_positions_of_others_are_invalid,
                a_closed_scan_goes_on_among_changed_rows,
                an_empty_range_gives_nothing,
                a_scan_that_is_over_stays_over,
                batches_keep_to_their_rows,
                batches_change_their_size_within_a_scan,
                batches_keep_to_their_bytes,
                keys_only_leaves_out_the_values,
                a_filter_passes_rows_over,
                writes_during_a_scan_do_not_disturb_it,
                a_scan_outlives_its_engine,
            }
            deadlines {
                a_write_after_its_deadline_stores_nothing,
                a_write_before_its_deadline_is_carried_out,
                a_read_after_its_deadline_times_out,
                a_scan_after_its_deadline_can_be_resumed,
                a_verification_after_its_deadline_gives_no_report,
                a_settling_after_its_deadline_may_be_tried_again,
                a_push_after_its_deadline_takes_nothing,
                a_flush_after_its_deadline_may_be_tried_again,
                a_load_that_ends_after_its_deadline_stores_nothing,
                a_deletion_after_its_deadline_deletes_nothing,
                a_space_is_neither_made_nor_dropped_after_a_deadline,
            }
            changes {
                equal_counts_mean_that_nothing_changed,
                what_is_read_between_equal_counts_stays_true_beside_writers,
            }
            tracking {
                a_snapshot_shows_one_point_in_time_and_refuses_writes,
                a_snapshot_is_read_in_every_way_at_its_point_in_time,
                a_snapshot_keeps_what_is_deleted_behind_it,
                rows_expire_in_snapshots_too,
                nothing_is_tracked_after_an_opening,
                every_write_since_a_copy_is_told,
                each_space_of_a_batch_is_told,
                what_a_large_load_stores_is_told_or_the_range_is_unknown,
                a_refused_write_may_be_told_and_changes_nothing,
                a_copy_that_is_older_than_another_is_not_tracked,
                copies_beside_writers_stay_right,
            }
            limits {
                each_range_has_its_own_limit,
                each_shard_key_has_its_own_limit,
                the_limit_of_a_shard_key_is_counted_within_each_range,
                both_limits_hold_together,
                a_limit_of_nothing_gives_nothing,
                a_forward_scan_gives_what_comes_along_after_the_last_counted_row,
                a_reverse_scan_gives_what_comes_along_before_a_counted_row,
                families_of_a_whole_space_are_limited_under_each_shard_key,
                rows_passed_over_do_not_count,
                expired_rows_do_not_count,
            }
            writes {
                a_put_replaces_the_row,
                a_delete_removes_the_row,
                deleting_a_missing_row_succeeds,
                a_batch_is_carried_out_as_a_whole,
                the_later_operation_on_a_key_decides,
                a_batch_over_several_shard_keys_is_invalid,
                a_batch_holds_as_many_operations_as_the_capability_says,
                a_batch_over_too_many_spaces_is_unsupported,
                an_empty_batch_is_applied,
                every_durability_can_be_asked_for,
                concurrent_counters_lose_nothing,
                readers_see_a_batch_as_a_whole,
                a_large_read_sees_a_batch_as_a_whole,
            }
            write_many {
                no_batches_have_no_outcomes,
                each_batch_has_an_outcome_of_its_own,
                a_batch_sees_what_those_before_it_left,
                a_row_put_by_an_earlier_batch_may_have_expired,
                many_batches_are_the_same_after_reopen,
                calls_in_opposite_orders_lose_nothing,
            }
            conditions {
                if_absent_stores_only_a_new_row,
                if_present_stores_only_over_a_row,
                if_version_stores_only_over_that_version,
                if_version_is_refused_for_a_missing_row,
                deletes_have_conditions_too,
                a_refused_batch_leaves_nothing,
                conditions_are_judged_before_the_batch,
            }
            versions {
                each_put_has_a_greater_version,
                versions_grow_across_deletes,
                versions_grow_across_loads,
                versions_grow_across_flushes_of_one_load,
                versions_grow_across_reopen,
            }
            expiry {
                a_row_is_gone_once_its_time_has_come,
                the_expiry_is_told,
                conditions_take_an_expired_row_for_absent,
                a_later_write_sets_the_expiry_anew,
                loaded_rows_expire,
                a_load_takes_an_expired_row_for_absent,
                expired_rows_stay_gone,
            }
            loads {
                a_flush_makes_rows_visible_and_reports_them,
                a_load_of_nothing_succeeds,
                a_push_copies_its_entries,
                a_dropped_session_keeps_what_it_flushed,
                pending_bytes_are_those_since_the_last_flush,
                each_stream_is_counted_by_itself,
                several_threads_push_at_once,
                one_session_loads_several_spaces,
                a_small_memory_limit_holds_any_load,
                rows_pushed_in_any_order_are_stored_in_key_order,
                two_sessions_load_side_by_side,
                loaded_rows_are_the_same_after_reopen,
                a_second_load_of_the_same_rows_finds_all_existing,
                a_load_outlives_its_engine,
            }
            load_conflicts {
                keep_leaves_the_stored_row,
                replace_stores_over_the_stored_row,
                overwrite_stores_over_the_stored_row_and_tells_nothing,
                fail_stops_at_the_first_stored_row,
                fail_stops_at_a_key_that_comes_twice,
                a_load_that_failed_stores_nothing_afterwards,
                fail_loads_new_rows,
                keep_stores_the_first_of_a_stream,
                replace_stores_the_last_of_a_stream,
                order_within_a_stream_holds_across_full_memory,
                existing_entries_of_a_key_are_told_in_stream_order,
                of_two_streams_with_one_key_one_wins,
                the_error_of_an_observer_stops_the_load,
                a_load_that_may_not_go_on_stores_nothing,
                a_load_sees_the_rows_of_small_writes,
                a_write_after_the_push_is_not_lost,
                an_entry_replaces_what_was_written_before_its_push,
                a_write_between_two_pushes_parts_them,
                a_load_during_the_load_is_not_lost,
                a_load_comes_after_the_conditional_writes_beside_it,
                a_load_comes_after_the_keeping_loads_beside_it,
                the_last_write_beside_a_load_decides,
                a_later_row_that_expired_is_later,
                writes_that_race_with_a_load_are_not_lost,
            }
            ranges {
                a_deleted_range_is_gone_and_nothing_else,
                a_whole_space_can_be_emptied,
                deleting_nothing_succeeds,
                a_deleted_range_can_be_written_again,
                loaded_rows_are_deleted_by_range,
                a_row_put_into_a_deleted_range_is_found_every_way,
                a_loaded_row_at_the_end_of_a_range_stays,
                a_deletion_and_a_conditional_write_take_turns,
            }
            shard_prefixed {
                one_batch_writes_several_spaces,
                a_refused_batch_leaves_nothing_in_any_space,
                a_key_that_names_another_shard_is_invalid,
                a_range_of_one_shard_comes_in_order,
                entries_outside_the_atomic_step_stay_when_the_batch_is_refused,
                a_load_stores_placed_entries_whatever_is_there,
                a_large_load_stores_placed_entries,
                a_load_outlives_a_dropped_placed_space,
                a_large_load_outlives_a_dropped_placed_space,
            }
            errors {
                reading_a_key_that_is_too_short_is_invalid,
                writing_a_key_that_is_too_short_is_invalid,
                keys_may_be_as_long_as_the_capability_says,
                an_unknown_space_is_not_found_by_its_number,
                a_push_with_a_wrong_key_is_not_taken,
                a_push_with_a_value_over_the_limit_is_not_taken,
                a_push_of_uneven_columns_is_not_taken,
                a_push_to_an_unknown_space_is_not_found,
            }
            upkeep {
                sync_keeps_what_was_written_without_durability,
                settling_changes_nothing_that_can_be_seen,
                a_checkpoint_needs_a_directory_that_does_not_exist,
                verification_reads_every_row,
                statistics_have_one_reading_a_shard,
                few_rows_are_estimated_by_counting,
                the_shard_of_a_shard_key_never_changes,
            }
        }
    };
    (@behaviours $harness:expr; $($noun:ident { $($behaviour:ident,)* })*) => {
        $(mod $noun {
            #[allow(unused_imports)]
            use super::*;
            $($crate::conformance_suite! { @behaviour $harness, $noun, $behaviour })*
        })*
    };
    (@behaviour $harness:expr, $noun:ident, $behaviour:ident) => {
        #[test]
        fn $behaviour() {
            $crate::conformance::$noun::$behaviour(&mut $harness);
        }
    };
}

#[cfg(test)]
mod tests {
    /// A behaviour that the macro does not list would never run.
    #[test]
    fn every_behaviour_is_listed() {
        let list = include_str!("suite.rs");
        let nouns = [
            include_str!("spaces.rs"),
            include_str!("reads.rs"),
            include_str!("scans.rs"),
            include_str!("limits.rs"),
            include_str!("write_many.rs"),
            include_str!("writes.rs"),
            include_str!("conditions.rs"),
            include_str!("versions.rs"),
            include_str!("expiry.rs"),
            include_str!("loads.rs"),
            include_str!("load_conflicts.rs"),
            include_str!("ranges.rs"),
            include_str!("shard_prefixed.rs"),
            include_str!("errors.rs"),
            include_str!("upkeep.rs"),
            include_str!("tracking.rs"),
        ];
        let mut count = 0;
        for line in nouns.iter().flat_map(|noun| noun.lines()) {
            let Some(name) = line
                .strip_prefix("pub fn ")
                .and_then(|rest| rest.split_once('('))
                .map(|(name, _)| name)
            else {
                continue;
            };
            assert!(list.contains(&format!("{name},\n")), "{name} is not in the suite");
            count += 1;
        }
        assert!(count > 0);
    }
}
