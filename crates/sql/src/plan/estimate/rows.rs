//! The estimated rows of each node of a plan.

use datafusion::common::Column;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    Distinct, Expr, FetchType, Join, JoinType, LogicalPlan, SkipType, TableScan,
};

use super::selectivity::{selectivity, selectivity_of_all};
use super::source::column_source;
use crate::plan::above_scan::{store_table, unaliased};

/// The rows of a plan without statistics.
const UNKNOWN_ROWS: f64 = 1_000.0;
/// Rows that share what they are grouped by, where their number is unknown.
const ROWS_PER_GROUP: f64 = 10.0;
/// Rows that share the first column of their key.
const ROWS_PER_LEADING_KEY: f64 = 4.0;
/// What a row with a list becomes where each element gets one of its own.
const ROWS_PER_LIST: f64 = 5.0;

/// The part of rows that another table is taken not to know, where it may know all.
const LEFT_OVER: f64 = 0.1;

/// About how many rows a plan gives.
pub(in crate::plan) fn estimate_rows(plan: &LogicalPlan) -> f64 {
    match plan {
        LogicalPlan::TableScan(scan) => scan_rows(scan, &[]),
        LogicalPlan::Filter(filter) => {
            let conditions = split_conjunction(&filter.predicate);
            match filter.input.as_ref() {
                // The scan may have taken some of the conditions: `scan_rows` counts each once.
                LogicalPlan::TableScan(scan) => scan_rows(scan, &conditions),
                input => estimate_rows(input) * selectivity(&filter.predicate, input),
            }
        }
        LogicalPlan::Aggregate(aggregate) => group_count(&aggregate.input, &aggregate.group_expr),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let columns = input.schema().columns().into_iter().map(Expr::Column);
            group_count(input, &columns.collect::<Vec<_>>())
        }
        LogicalPlan::Distinct(Distinct::On(distinct)) => {
            group_count(&distinct.input, &distinct.on_expr)
        }
        LogicalPlan::Limit(limit) => {
            let all = estimate_rows(&limit.input);
            match (limit.get_skip_type(), limit.get_fetch_type()) {
                (Ok(SkipType::Literal(skip)), Ok(FetchType::Literal(fetch))) => {
                    let left = (all - skip as f64).max(0.0);
                    fetch.map_or(left, |fetch| left.min(fetch as f64))
                }
                _ => all,
            }
        }
        LogicalPlan::Sort(sort) => match sort.fetch {
            Some(fetch) => estimate_rows(&sort.input).min(fetch as f64),
            None => estimate_rows(&sort.input),
        },
        LogicalPlan::Union(union) => union.inputs.iter().map(|input| estimate_rows(input)).sum(),
        LogicalPlan::Unnest(unnest) => estimate_rows(&unnest.input) * ROWS_PER_LIST,
        LogicalPlan::Values(values) => values.values.len() as f64,
        LogicalPlan::EmptyRelation(empty) => f64::from(u8::from(empty.produce_one_row)),
        LogicalPlan::Join(join) => join_rows(join),
        // A guess is enough for other nodes: no answer depends on it.
        _ => match plan.inputs().as_slice() {
            [] => UNKNOWN_ROWS,
            inputs => inputs.iter().map(|input| estimate_rows(input)).fold(0.0, f64::max),
        },
    }
}

/// About how many groups the rows of a plan fall into.
fn group_count(input: &LogicalPlan, keys: &[Expr]) -> f64 {
    let all = estimate_rows(input);
    keys.iter().map(|key| distinct_values(input, key, all)).product::<f64>().min(all).max(1.0)
}

/// How many values an expression has among so many rows.
fn distinct_values(input: &LogicalPlan, key: &Expr, all: f64) -> f64 {
    let known = match unaliased(key) {
        Expr::Literal(..) => Some(1.0),
        Expr::Column(column) => column_values(input, column),
        _ => None,
    };
    known.unwrap_or(all / ROWS_PER_GROUP).clamp(1.0, all.max(1.0))
}

fn column_values(input: &LogicalPlan, column: &Column) -> Option<f64> {
    let source = column_source(input, column)?;
    let leading = || Some(source.rows().filter(|_| source.leads_key())? / ROWS_PER_LEADING_KEY);
    source.values().or_else(leading)
}

fn scan_rows(scan: &TableScan, above: &[&Expr]) -> f64 {
    let Some(table) = store_table(scan) else { return other_scan_rows(scan, above) };
    // A filter that only narrows the read is also above it.
    let handed_down: Vec<&Expr> = scan.filters.iter().collect();
    let others = above.iter().filter(|filter| !handed_down.contains(filter));
    let (found, left): (f64, Vec<&Expr>) = match table.rows_found(&handed_down) {
        Some(rows) => (rows as f64, others.copied().collect()),
        None => {
            let all = table.table().own_rows_estimate().map_or(UNKNOWN_ROWS, |rows| rows as f64);
            (all, others.chain(&handed_down).copied().collect())
        }
    };
    apply_fetch(scan, found * filters_selectivity(scan, &left))
}

fn other_scan_rows(scan: &TableScan, above: &[&Expr]) -> f64 {
    let statistics = source_as_provider(&scan.source).ok().and_then(|table| table.statistics());
    let all = statistics.and_then(|statistics| statistics.num_rows.get_value().copied());
    let all = all.map_or(UNKNOWN_ROWS, |rows| rows as f64);
    apply_fetch(scan, all * filters_selectivity(scan, above))
}

fn filters_selectivity(scan: &TableScan, filters: &[&Expr]) -> f64 {
    let scan = LogicalPlan::TableScan(scan.clone());
    selectivity_of_all(filters.iter().copied(), &scan)
}

fn apply_fetch(scan: &TableScan, rows: f64) -> f64 {
    scan.fetch.map_or(rows, |fetch| rows.min(fetch as f64))
}

/// The rows of joins that stay where they are. Those of inner joins alone are estimated better
/// where their order is chosen.
fn join_rows(join: &Join) -> f64 {
    let (left, right) = (estimate_rows(&join.left), estimate_rows(&join.right));
    let values = join.on.iter().map(|(one, other)| {
        let (one, other) = (key_values(&join.left, one), key_values(&join.right, other));
        one.into_iter().chain(other).reduce(f64::max).unwrap_or(left.min(right))
    });
    // Several keys have as many values as the one that has the most, or more.
    let matched = left * right / values.fold(1.0, f64::max);
    let on = || join.on.iter();
    let kept_left = || semi_join_selectivity(&join.left, left, on().map(|(left, _)| left), right);
    let kept_right =
        || semi_join_selectivity(&join.right, right, on().map(|(_, right)| right), left);
    match join.join_type {
        JoinType::Inner => matched,
        JoinType::Left => matched.max(left),
        JoinType::Right => matched.max(right),
        JoinType::Full => matched.max(left + right),
        JoinType::LeftSemi => left * kept_left(),
        JoinType::RightSemi => right * kept_right(),
        JoinType::LeftAnti => left * (1.0 - kept_left()).max(LEFT_OVER),
        JoinType::RightAnti => right * (1.0 - kept_right()).max(LEFT_OVER),
        JoinType::LeftMark => left,
        JoinType::RightMark => right,
    }
}

/// The part of so many rows of a plan whose keys are among so many others, about.
pub(in crate::plan) fn semi_join_selectivity<'a>(
    plan: &LogicalPlan,
    rows: f64,
    keys: impl Iterator<Item = &'a Expr>,
    others: f64,
) -> f64 {
    let of_table = |key: &Expr| match key {
        Expr::Column(column) => column_source(plan, column)?.rows(),
        _ => None,
    };
    let values = |key| key_values(plan, key).or_else(|| of_table(key));
    let all = keys.filter_map(values).reduce(f64::max).unwrap_or(rows);
    (others / all.max(1.0)).min(1.0)
}

/// How many values a key of a join has in its table, if that is known.
fn key_values(plan: &LogicalPlan, key: &Expr) -> Option<f64> {
    match key {
        Expr::Column(column) => column_source(plan, column)?.values(),
        _ => None,
    }
}
