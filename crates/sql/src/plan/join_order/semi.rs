//! Semi-joins: joins that keep the rows whose keys another query has.

use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::{Expr, Join, JoinConstraint, JoinType, LogicalPlan};

use super::column_relations::ColumnRelations;
use crate::plan::estimate::{estimate_rows, semi_join_selectivity};

/// Above this part of the rows that are kept, a join stays above the others.
pub(super) const KEPT_MAX: f64 = 0.5;

/// A join that keeps the rows of a tree whose keys a plan has.
#[derive(Clone, Debug)]
pub(super) struct SemiJoin {
    pub(super) plan: LogicalPlan,
    on: Vec<(Expr, Expr)>,
    /// The relation that has all its keys.
    pub(super) relation: Option<usize>,
}

impl SemiJoin {
    pub(super) fn is_semi_join(join: &Join) -> bool {
        join.join_type == JoinType::LeftSemi
            && join.null_equality == NullEquality::NullEqualsNothing
            && join.filter.is_none()
            && !join.on.is_empty()
    }

    pub(super) fn of(join: &Join) -> Self {
        Self { plan: join.right.as_ref().clone(), on: join.on.clone(), relation: None }
    }

    pub(super) fn find_relation(&mut self, relations_by_column: &ColumnRelations) {
        let relation = |(key, _): &(Expr, Expr)| match key {
            Expr::Column(column) => Some(relations_by_column.get(column)?.relation),
            _ => None,
        };
        let found: Option<Vec<usize>> = self.on.iter().map(relation).collect();
        self.relation = found.and_then(|found| {
            let first = *found.first()?;
            found.iter().all(|one| *one == first).then_some(first)
        });
    }

    /// The part of the rows that it keeps, about.
    pub(super) fn selectivity(&self, relations: &[LogicalPlan]) -> f64 {
        let Some(relation) = self.relation else { return KEPT_MAX };
        let relation = &relations[relation];
        semi_join_selectivity(
            relation,
            estimate_rows(relation),
            self.on.iter().map(|(key, _)| key),
            estimate_rows(&self.plan),
        )
    }

    /// The rows of a plan that it keeps; the smaller side is held in memory.
    pub(super) fn join_onto(self, plan: LogicalPlan, is_smaller: bool) -> Result<LogicalPlan> {
        let (left, right, on, kind) = match is_smaller {
            true => {
                let on = self.on.into_iter().map(|(left, right)| (right, left)).collect();
                (self.plan, plan, on, JoinType::RightSemi)
            }
            false => (plan, self.plan, self.on, JoinType::LeftSemi),
        };
        let join = Join::try_new(
            left.into(),
            right.into(),
            on,
            None,
            kind,
            JoinConstraint::On,
            NullEquality::NullEqualsNothing,
            false,
        )?;
        Ok(LogicalPlan::Join(join))
    }
}
