//! A tree of inner joins, taken out of a plan.

use std::collections::HashSet;

use datafusion::common::NullEquality;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, Projection};

use super::column_relations::{ColumnRelation, ColumnRelations};
use super::conditions::{FoundCondition, TreeConditions};
use super::semi::SemiJoin;
use super::shape::{JoinShape, RELATIONS_MAX};

/// Inner joins, and joins above them that only keep rows.
#[derive(Clone, Debug)]
pub(super) struct JoinTree {
    pub(super) relations: Vec<LogicalPlan>,
    pub(super) conditions: TreeConditions,
    pub(super) shape: JoinShape,
    /// The lowest comes last.
    pub(super) semis: Vec<SemiJoin>,
}

impl JoinTree {
    /// The tree that a plan is the root of.
    pub(super) fn of(plan: &LogicalPlan) -> Option<Self> {
        let (mut semis, mut node) = (Vec::new(), plan);
        loop {
            node = match node {
                LogicalPlan::Join(join) if SemiJoin::is_semi_join(join) => {
                    semis.push(SemiJoin::of(join));
                    &join.left
                }
                LogicalPlan::Projection(projection) if !semis.is_empty() => {
                    columns_only(projection)?
                }
                LogicalPlan::Join(join) if is_inner(join) => break,
                _ => return None,
            };
        }
        let mut taken = JoinTreeBuilder::default();
        let shape = taken.add(node);
        let relations_by_column = taken.column_relations()?;
        let conditions = TreeConditions::of(&taken.found, &relations_by_column)?;
        semis.iter_mut().for_each(|semi| semi.find_relation(&relations_by_column));
        Some(Self { relations: taken.relations, conditions, shape, semis })
    }

    /// All plans that are joined.
    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut LogicalPlan> {
        self.relations.iter_mut().chain(self.semis.iter_mut().map(|semi| &mut semi.plan))
    }
}

#[derive(Default)]
struct JoinTreeBuilder {
    relations: Vec<LogicalPlan>,
    found: Vec<FoundCondition>,
}

impl JoinTreeBuilder {
    fn add(&mut self, plan: &LogicalPlan) -> JoinShape {
        match inner_join(plan) {
            Some(join) => {
                let (left, right) = (self.add(&join.left), self.add(&join.right));
                let equal = |(left, right): &(Expr, Expr)| {
                    FoundCondition::Equal(left.clone(), right.clone())
                };
                self.found.extend(join.on.iter().map(equal));
                let filters = join.filter.iter().flat_map(split_conjunction);
                self.found.extend(filters.map(|filter| FoundCondition::Filter(filter.clone())));
                JoinShape::join(left, right)
            }
            None => {
                self.relations.push(plan.clone());
                JoinShape::Relation(self.relations.len() - 1)
            }
        }
    }

    /// The relation of each column, if no two share a name.
    fn column_relations(&self) -> Option<ColumnRelations> {
        if self.relations.len() > RELATIONS_MAX {
            return None;
        }
        let (mut relations_by_column, mut names, mut bare) =
            (ColumnRelations::new(), HashSet::new(), HashSet::new());
        for (relation, plan) in self.relations.iter().enumerate() {
            for (column, field) in plan.schema().columns().into_iter().zip(plan.schema().fields()) {
                let is_new = names.insert(column.name.clone());
                if column.relation.is_none() {
                    bare.insert(column.name.clone());
                }
                if !is_new && bare.contains(&column.name) {
                    return None;
                }
                let home = ColumnRelation { relation, data_type: field.data_type().clone() };
                if relations_by_column.insert(column, home).is_some() {
                    return None;
                }
            }
        }
        Some(relations_by_column)
    }
}

/// The join that a plan is, below projections that only leave columns out.
fn inner_join(plan: &LogicalPlan) -> Option<&Join> {
    match plan {
        LogicalPlan::Join(join) => is_inner(join).then_some(join),
        LogicalPlan::Projection(projection) => inner_join(columns_only(projection)?),
        _ => None,
    }
}

fn is_inner(join: &Join) -> bool {
    join.join_type == JoinType::Inner && join.null_equality == NullEquality::NullEqualsNothing
}

/// What is below a projection that hands on columns as they are.
fn columns_only(projection: &Projection) -> Option<&LogicalPlan> {
    let is_column = |expr: &Expr| matches!(expr, Expr::Column(_));
    projection.expr.iter().all(is_column).then_some(projection.input.as_ref())
}
