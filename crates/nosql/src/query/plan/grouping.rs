//! Groups: what rows are grouped by, and what is said of each group.

use super::names::is_aggregate;
use crate::query::syntax::{Expr, ExprKind};
use crate::wire::{Failure, Outcome};

/// Something that is said of all rows of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregate {
    pub(crate) kind: AggregateKind,
    /// Nothing means the rows themselves.
    pub(crate) of: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AggregateKind {
    Count,
    CountDistinct,
    Sum,
    Average,
    Minimum,
    Maximum,
    Collect,
    CollectDistinct,
}

/// Whether an expression has an aggregate anywhere.
pub(super) fn has_aggregate(expr: &Expr) -> bool {
    let mut is_inside = is_aggregate(&expr.kind);
    expr.for_each_inner(|inner| is_inside |= has_aggregate(inner));
    is_inside
}

/// Replaces what groups have by places among it. Aggregates are gathered.
///
/// # Errors
/// The first part that is neither of the group nor of all its rows.
pub(super) fn lift(expr: &mut Expr, keys: &[Expr], aggregates: &mut Vec<Aggregate>) -> Outcome<()> {
    if let Some(place) = keys.iter().position(|key| *key == *expr) {
        expr.kind = ExprKind::GroupKey(place);
        return Ok(());
    }
    // Computed once, however often it occurs.
    if let Some(aggregate) = aggregate_of(&expr.kind) {
        if aggregate.of.as_ref().is_some_and(has_aggregate) {
            return Err(Failure::argument(format!(
                "Error: {} Aggregate functions can not be nested",
                expr.place
            )));
        }
        let place = match aggregates.iter().position(|other| *other == aggregate) {
            Some(place) => place,
            None => {
                aggregates.push(aggregate);
                aggregates.len() - 1
            }
        };
        expr.kind = ExprKind::Aggregated(place);
        return Ok(());
    }
    // What differs from row to row has no value for their group.
    match &expr.kind {
        ExprKind::Column(_) | ExprKind::Row | ExprKind::Unnested(_) => {
            let place = expr.place;
            Err(Failure::argument(format!(
                "Error: {place} Invalid expression in SELECT or ORDER-BY clause. When a SELECT \
                 expression includes grouping, expressions in the SELECT and ORDER-BY clauses must \
                 reference grouping expressions, aggregate functions or external variable only."
            )))
        }
        _ => expr.map_inner(&mut |inner| lift(inner, keys, aggregates)),
    }
}

fn aggregate_of(kind: &ExprKind) -> Option<Aggregate> {
    let of = |kind, of: &Expr| Some(Aggregate { kind, of: Some(of.clone()) });
    match kind {
        ExprKind::CountRows => Some(Aggregate { kind: AggregateKind::Count, of: None }),
        ExprKind::CountDistinct(inner) => of(AggregateKind::CountDistinct, inner),
        ExprKind::Collect(inner, true) => of(AggregateKind::CollectDistinct, inner),
        ExprKind::Collect(inner, false) => of(AggregateKind::Collect, inner),
        ExprKind::Call(name, arguments) => {
            let kind = match name.as_str() {
                "count" => AggregateKind::Count,
                "sum" => AggregateKind::Sum,
                "avg" => AggregateKind::Average,
                "min" => AggregateKind::Minimum,
                "max" => AggregateKind::Maximum,
                _ => return None,
            };
            of(kind, arguments.first()?)
        }
        _ => None,
    }
}
