//! Reads of the latest row of each shard key, which skip all other rows.
//!
//! Where a plan groups rows by the whole shard key and wants the first of each group in key order,
//! the read below needs no other rows. The grouping stays as it is and finds the same rows. So no
//! answer depends on the reader keeping to the limit.
//!
//! 1. `ROW_NUMBER() OVER (PARTITION BY shard ORDER BY minor DESC) <= n`.
//! 2. `first_value(x ORDER BY minor DESC) ... GROUP BY shard`, which the optimizer makes of
//!    `DISTINCT ON`.
//! 3. `max(minor) ... GROUP BY shard`.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, NullTreatment, Sort, WindowFunction};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, Filter, LogicalPlan, Operator, Projection, SubqueryAlias,
    TableScan, Window, WindowFunctionDefinition,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use tonnage::Direction;

use super::above_scan::{
    scan_with_table, store_scan, store_table, table_column, unaliased, with_input,
};
use crate::access::{AccessPath, LatestRows, choose_access_path, is_ordered_as_sql};
use crate::catalog::condition_of;

/// Puts a limit per shard key on reads that need no more.
#[derive(Debug)]
pub(crate) struct LatestRule;

impl OptimizerRule for LatestRule {
    fn name(&self) -> &str {
        "latest_per_shard_key"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let rewritten = match &plan {
            LogicalPlan::Filter(filter) => rewrite_row_number(filter),
            LogicalPlan::Aggregate(aggregate) => rewrite_groups(aggregate),
            _ => None,
        };
        Ok(rewritten.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

/// Rows numbered within their group, and a filter on the number.
fn rewrite_row_number(filter: &Filter) -> Option<LogicalPlan> {
    let LogicalPlan::Window(window) = filter.input.as_ref() else { return None };
    let [expr] = window.window_expr.as_slice() else { return None };
    let Expr::WindowFunction(function) = unaliased(expr) else { return None };
    let WindowFunction { fun: WindowFunctionDefinition::WindowUDF(fun), params } =
        function.as_ref()
    else {
        return None;
    };
    if fun.name() != "row_number" || params.filter.is_some() {
        return None;
    }
    let number = window.schema.qualified_field(window.schema.fields().len() - 1);
    let number = Column::from(number);
    // The filter stays above, so conditions that are not understood here still hold.
    let rows = split_conjunction(&filter.predicate)
        .into_iter()
        .filter_map(|part| at_most(part, &number))
        .min()?;
    let input = &window.input;
    let direction = order_within(input, &params.partition_by, &params.order_by)?;
    let input = with_latest(input, LatestRows { rows, direction })?;
    let window = Window { input: Arc::new(input), ..window.clone() };
    Some(LogicalPlan::Filter(
        Filter::try_new(filter.predicate.clone(), Arc::new(LogicalPlan::Window(window))).ok()?,
    ))
}

/// The greatest number that passes a condition.
fn at_most(condition: &Expr, number: &Column) -> Option<u64> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    let (Expr::Column(column), Expr::Literal(ScalarValue::UInt64(Some(limit)), _)) =
        (left.as_ref(), right.as_ref())
    else {
        return None;
    };
    let rows = match op {
        Operator::Eq | Operator::LtEq => *limit,
        Operator::Lt => limit.checked_sub(1)?,
        _ => return None,
    };
    (column == number && rows > 0).then_some(rows)
}

/// Groups of which one row is wanted.
fn rewrite_groups(aggregate: &Aggregate) -> Option<LogicalPlan> {
    let input = &aggregate.input;
    let mut directions =
        aggregate.aggr_expr.iter().map(|expr| end_of_group(input, &aggregate.group_expr, expr));
    let direction = directions.next()??;
    if !directions.all(|other| other == Some(direction)) {
        return None;
    }
    let input = with_latest(input, LatestRows { rows: 1, direction })?;
    let aggregate = Aggregate::try_new(
        Arc::new(input),
        aggregate.group_expr.clone(),
        aggregate.aggr_expr.clone(),
    )
    .ok()?;
    Some(LogicalPlan::Aggregate(aggregate))
}

/// From which end of its group an aggregate takes its one row.
fn end_of_group(input: &LogicalPlan, groups: &[Expr], expr: &Expr) -> Option<Direction> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = unaliased(expr) else {
        return None;
    };
    // One that passes NULL by may take its row from further in.
    let skips = params.null_treatment == Some(NullTreatment::IgnoreNulls);
    if params.filter.is_some() || params.distinct || skips {
        return None;
    }
    match func.name() {
        "first_value" => order_within(input, groups, &params.order_by),
        "last_value" => opposite(order_within(input, groups, &params.order_by)?),
        name @ ("max" | "min") => {
            let order = [Sort {
                expr: params.args.first()?.clone(),
                asc: name == "min",
                nulls_first: false,
            }];
            order_within(input, groups, &order)
        }
        _ => None,
    }
}

fn opposite(direction: Direction) -> Option<Direction> {
    match direction {
        Direction::Forward => Some(Direction::Reverse),
        Direction::Reverse => Some(Direction::Forward),
        Direction::Unordered => None,
    }
}

/// The direction of the order within groups, when the groups are the shard keys and the order is
/// that of the key.
fn order_within(input: &LogicalPlan, groups: &[Expr], order: &[Sort]) -> Option<Direction> {
    let (_, table) = store_scan(input)?;
    let schema = table.table().schema();
    let (shard, minor) = schema.key.split_at(schema.shard_key_len);
    let mut grouped =
        groups.iter().map(|expr| table_column(input, expr)).collect::<Option<Vec<_>>>()?;
    // A column that is named twice makes no other groups.
    grouped.sort_unstable();
    grouped.dedup();
    if grouped.len() != shard.len() || !shard.iter().all(|column| grouped.contains(column)) {
        return None;
    }
    let mut minor = minor.iter();
    let mut ascending = None;
    for sort in order {
        let column = table_column(input, &sort.expr)?;
        // Within a group the shard key is constant: it orders nothing.
        if shard.contains(&column) {
            continue;
        }
        if !is_ordered_as_sql(schema, column)
            || minor.next() != Some(&column)
            || *ascending.get_or_insert(sort.asc) != sort.asc
        {
            return None;
        }
    }
    ascending.map(|ascending| if ascending { Direction::Forward } else { Direction::Reverse })
}

/// The plan with the limit on its scan; `None` when a filter in between may throw away the very
/// rows that the limit leaves.
fn with_latest(plan: &LogicalPlan, latest: LatestRows) -> Option<LogicalPlan> {
    match plan {
        LogicalPlan::TableScan(scan) => scan_with_latest(scan, latest),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Projection(Projection { input, .. }) => {
            with_input(plan, with_latest(input, latest)?)
        }
        LogicalPlan::Filter(filter) => {
            let (_, table) = store_scan(&filter.input)?;
            let schema = table.table().schema();
            let is_shard = |column: usize| schema.key[..schema.shard_key_len].contains(&column);
            let columns = filter.predicate.column_refs();
            let by_shard = |column: &&Column| {
                table_column(&filter.input, &Expr::Column((*column).clone())).is_some_and(is_shard)
            };
            if !columns.iter().all(by_shard) || filter.predicate.is_volatile() {
                return None;
            }
            with_input(plan, with_latest(&filter.input, latest)?)
        }
        _ => None,
    }
}

/// Filters that were pushed into the scan are fine when they choose among shard keys, or are a
/// range that is read under each of them.
fn scan_with_latest(scan: &TableScan, latest: LatestRows) -> Option<LogicalPlan> {
    let table = store_table(scan)?;
    if table.latest().is_some() || scan.fetch.is_some() || !table.options().push_down {
        return None;
    }
    if !scan.filters.is_empty() {
        let conditions = scan
            .filters
            .iter()
            .map(|filter| condition_of(table.table(), filter))
            .collect::<Option<Vec<_>>>()?;
        let choice = choose_access_path(table.table(), &conditions.concat()).ok()?;
        let is_per_shard_key = match &choice.path {
            AccessPath::Keys { keys, .. } => {
                keys.num_columns() == table.table().schema().shard_key_len
            }
            // Of each shard key it has all rows or none, if that is the column.
            AccessPath::Range { .. } => true,
            AccessPath::All | AccessPath::Nothing | AccessPath::Index(_) => false,
        };
        if !is_per_shard_key || !choice.answered.iter().all(|answered| *answered) {
            return None;
        }
    }
    Some(scan_with_table(scan, table.with_latest(latest)))
}
