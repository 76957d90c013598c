//! Repairs of DataFusion, and the one table of all passes over a plan.
//!
//! A file or folder here repairs one fault of DataFusion 55.2: a wrong answer, or an error for a
//! statement that is right. It begins with the number of the upstream issue and the version that
//! has the fault no more. `repairs.rs` lists all of them, and `docs/sql.md` shows the list.
//! `tests/behaviour/upstream` holds each against bare DataFusion: a test that fails says that the
//! repair may go.
//!
//! What changes the meaning of statements on purpose, and what bounds the cost of planning, is
//! outside; `DESIGN.md` has the criterion.
//!
//! `ANALYZER`, `OPTIMIZER` and `PHYSICAL` name every pass in order: those of DataFusion that
//! are kept, replaced or removed, and our own. A session does not open if DataFusion has other
//! passes than the tables say. So no rule of DataFusion returns in silence under a new name, and
//! none comes unseen.

pub(crate) mod array_positions;
pub(crate) mod average;
mod computed_laterals;
mod correlated_names;
mod correlation;
mod dependent_aggregates;
mod evaluated_twice;
pub(crate) mod extreme_double;
pub(crate) mod frame_accumulator;
mod guarded_joins;
mod join_orders;
mod lag_lead;
pub(crate) mod map_keys;
mod membership;
mod merged_lists;
mod null_joins;
mod only_rows;
mod outer_constants;
mod outer_types;
mod passes;
pub(crate) mod patterns;
pub(crate) mod percentile;
mod plain_rows;
mod projection_pushdown;
mod removed_rules;
#[cfg(test)]
mod repairs;
pub(crate) mod round_digits;
mod scan_statistics;
pub(crate) mod scopes;
pub(crate) mod sets;
mod settings;
pub(crate) mod similar;
pub(crate) mod sort_keys;
mod subqueries;
pub(crate) mod swapped_bounds;
mod twin_columns;
pub(crate) mod using;
mod value_names;
pub(crate) mod wide_comparisons;
pub(crate) mod window_frames;
pub(crate) mod windows;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::optimizer::Analyzer;
use datafusion::optimizer::optimizer::Optimizer;
use datafusion::physical_optimizer::limit_pushdown::LimitPushdown;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

pub(crate) use evaluated_twice::refuse_evaluated_twice;
pub(crate) use guarded_joins::with_guarded_joins;
pub(crate) use lag_lead::shifts;
pub(crate) use null_joins::with_null_joins;
pub(crate) use scan_statistics::statistics_of;
pub(crate) use sets::{derived, is_counted, read};
pub(crate) use settings::turn_off_faults;
pub(crate) use value_names::select_from_values;

use self::correlated_names::CorrelatedNamesRule;
use self::dependent_aggregates::DependentRule;
use self::join_orders::JoinOrdersRule;
use self::membership::MembershipRule;
use self::merged_lists::MergedListRule;
use self::null_joins::EqualKeysRule;
use self::outer_constants::OuterConstantsRule;
use self::outer_types::OuterTypesRule;
use self::passes::{Analyzing, Optimizing, Pass, Physical, arranged};
use self::projection_pushdown::FallibleProjectionPushdown;
use self::removed_rules::{
    AGGREGATE_STATISTICS, EXTRACT_LEAF_EXPRESSIONS, PUSH_DOWN_LEAF_PROJECTIONS,
};
use self::subqueries::SubqueryRule;
use self::twin_columns::GuardedFilterPushdown;
use self::using::UsingRule;
use crate::plan::{
    IndexOrderRule, LatestRule, NearestRule, OverflowRule, PrunedScanRule, TypeRule,
};

/// The passes that give a plan its types.
const ANALYZER: &[Pass<Analyzing>] = &[
    Pass::own(
        "columns_of_using",
        || Arc::new(UsingRule),
        "First: no other rule may see the columns that only tell the planner what USING means.",
    ),
    Pass::own(
        "types_as_written",
        || Arc::new(TypeRule),
        "Before DataFusion brings types together, which loses digits.",
    ),
    Pass::own(
        "subqueries_as_written",
        || Arc::new(SubqueryRule),
        "After the types of subqueries, which it moves; before DataFusion checks subqueries.",
    ),
    Pass::own(
        "outer_types",
        || Arc::new(OuterTypesRule),
        "After all rules that give an outer column another type.",
    ),
    Pass::kept("resolve_grouping_function"),
    Pass::kept("type_coercion"),
    Pass::own(
        "checked_arithmetic",
        || Arc::new(OverflowRule),
        "After type_coercion: the types of numbers say which operation may overflow.",
    ),
    Pass::own(
        "merged_lists",
        || Arc::new(MergedListRule),
        "After type_coercion, whose casts tell apart what simplify_expressions would merge.",
    ),
];

/// The passes that rewrite a plan until it stays as it is.
const OPTIMIZER: &[Pass<Optimizing>] = &[
    Pass::kept("rewrite_set_comparison"),
    Pass::own(
        "three_valued_membership",
        || Arc::new(MembershipRule),
        "After rewrite_set_comparison, which makes EXISTS of ANY and ALL.",
    ),
    Pass::own(
        "dependent_aggregates",
        || Arc::new(DependentRule),
        "Before scalar_subquery_to_join, which refuses what this rule makes joins of.",
    ),
    Pass::own(
        "correlated_names",
        || Arc::new(CorrelatedNamesRule),
        "After all rules that make subqueries, before those that make joins of them.",
    ),
    Pass::kept("optimize_unions"),
    Pass::kept("unions_to_filter"),
    Pass::kept("simplify_expressions"),
    Pass::kept("replace_distinct_aggregate"),
    Pass::kept("eliminate_join"),
    Pass::kept("decorrelate_predicate_subquery"),
    Pass::kept("scalar_subquery_to_join"),
    Pass::kept("decorrelate_lateral_join"),
    Pass::replaced(
        "extract_equijoin_predicate",
        || Arc::new(EqualKeysRule::default()),
        "It finds the keys of `=` alone; `with_null_joins` finds the others after all rules.",
    ),
    Pass::kept("eliminate_duplicated_expr"),
    Pass::kept("eliminate_filter"),
    Pass::kept("eliminate_cross_join"),
    Pass::kept("eliminate_limit"),
    Pass::kept("propagate_empty_relation"),
    Pass::kept("filter_null_join_keys"),
    Pass::kept("eliminate_outer_join"),
    Pass::kept("push_down_limit"),
    Pass::kept("push_down_filter"),
    Pass::kept("single_distinct_aggregation_to_group_by"),
    Pass::kept("eliminate_group_by_constant"),
    Pass::kept("common_sub_expression_eliminate"),
    Pass::removed(EXTRACT_LEAF_EXPRESSIONS, "It makes names that are ambiguous above a join."),
    Pass::removed(PUSH_DOWN_LEAF_PROJECTIONS, "It pushes down what the rule before extracts."),
    Pass::kept("optimize_projections"),
    Pass::own_for_reads(
        "latest_per_shard_key",
        || Arc::new(LatestRule),
        "Last: it looks for a grouping right above the scan, with the columns that are read.",
    ),
    Pass::own_for_reads(
        "first_rows_through_index",
        || Arc::new(IndexOrderRule),
        "Last: it looks for a sort with a limit right above the scan.",
    ),
    Pass::own_for_reads("nearest_rows_through_index", || Arc::new(NearestRule), "Last: likewise."),
];

/// The passes over operators.
const PHYSICAL: &[Pass<Physical>] = &[
    Pass::kept("OutputRequirements"),
    Pass::removed(AGGREGATE_STATISTICS, "It answers from statistics what only rows can say."),
    Pass::kept("join_selection"),
    Pass::own(
        "outer_constants",
        || Arc::new(OuterConstantsRule),
        "After joins have their sides, and before anything asks which sorts are needed.",
    ),
    Pass::own("join_orders", || Arc::new(JoinOrdersRule), "As above."),
    Pass::kept("LimitedDistinctAggregation"),
    Pass::removed("FilterPushdown", "The logical plan has pushed static filters down already."),
    Pass::kept("WindowTopN"),
    Pass::kept("EnsureRequirements"),
    Pass::kept("CombinePartialFinalAggregate"),
    Pass::kept("OptimizeAggregateOrder"),
    Pass::replaced(
        "ProjectionPushdown",
        || Arc::new(FallibleProjectionPushdown::default()),
        "It keeps the plan where DataFusion fails with an internal error.",
    ),
    Pass::kept("OutputRequirements"),
    Pass::kept("LimitAggregation"),
    Pass::kept("LimitPushPastWindows"),
    Pass::kept("HashJoinBuffering"),
    Pass::kept("LimitPushdown"),
    Pass::kept("TopKRepartition"),
    Pass::replaced(
        "ProjectionPushdown",
        || Arc::new(FallibleProjectionPushdown::default()),
        "As above.",
    ),
    Pass::kept("PushdownSort"),
    Pass::own_for_reads(
        "pruned_scans",
        || Arc::new(PrunedScanRule),
        "Before EnsureCooperative: its nodes come between a filter and its scan.",
    ),
    Pass::kept("EnsureCooperative"),
    Pass::replaced(
        "FilterPushdown(Post)",
        || Arc::new(GuardedFilterPushdown::default()),
        "It hands learned filters down only where a name means one column.",
    ),
    Pass::kept("SanityCheckPlan"),
    Pass::own(
        "LimitPushdown",
        || Arc::new(LimitPushdown::new()),
        "Once more: a limit came free if PushdownSort found its sort to be the order of the key.",
    ),
];

/// The rules of a session.
pub(crate) struct SessionRules {
    pub(crate) analyzer: Vec<Arc<Analyzing>>,
    pub(crate) optimizer: Vec<Arc<Optimizing>>,
    pub(crate) physical: Vec<Arc<Physical>>,
}

impl SessionRules {
    /// # Errors
    /// When DataFusion has other rules, or has them in another order, than the tables say.
    pub(crate) fn new(pushes_down: bool) -> Result<Self> {
        Ok(Self {
            analyzer: arranged(ANALYZER, Analyzer::new().rules, pushes_down)?,
            optimizer: arranged(OPTIMIZER, Optimizer::new().rules, pushes_down)?,
            physical: arranged(PHYSICAL, PhysicalOptimizer::new().rules, pushes_down)?,
        })
    }
}

#[cfg(test)]
mod tests;
