//! Joins by USING and NATURAL, which merge columns of one name.
//!
//! Upstream: apache/datafusion#22881. Gone in: open
//!
//! The planner takes such a column from the left side, which has no value in some rows of RIGHT and
//! FULL. It takes `*` from the side whose name comes first in the alphabet, and finds the name
//! ambiguous above a second join by it (DataFusion 55). So this module makes the column:
//!
//! 1. RIGHT takes it from the right side, FULL from the side that has it, the others from the left.
//! 2. It precedes the columns that it is built from, in a table that no statement names. Of
//!    columns that a join declares equal the planner takes the first, and for `*` the one whose
//!    table comes first. So the join declares the new column equal to them.
//! 3. No side of the join has that column. [`UsingRule`] removes the declaration before any other
//!    rule looks at the join.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, JoinConstraint, NullEquality, Result, TableReference};
use datafusion::config::ConfigOptions;
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::optimizer::AnalyzerRule;

/// What the name of the table of such columns begins with: it comes before all that is written.
const BEFORE_ALL: char = ' ';

/// One column of a join.
struct UsingColumn {
    left: Column,
    right: Column,
    whole: Column,
    /// Columns that were one with the left one before.
    others: Vec<Column>,
}

impl UsingColumn {
    fn new(
        (table, name): &(Option<String>, String),
        left: &LogicalPlan,
        right: &LogicalPlan,
    ) -> Result<Self> {
        let column = |side: &LogicalPlan| {
            let schemas: &[&[&DFSchema]] = &[&[side.schema().as_ref()]];
            let column = Column::from_name(name);
            column.normalize_with_schemas_and_ambiguity_check(schemas, &side.using_columns()?)
        };
        let (left_column, right_column) = (column(left)?, column(right)?);
        let of =
            |column: &Column| column.relation.as_ref().map(ToString::to_string).unwrap_or_default();
        let table = match table {
            Some(table) => table.clone(),
            None => format!("{BEFORE_ALL}{} {}", of(&left_column), of(&right_column)),
        };
        let whole = Column::new(Some(TableReference::bare(table)), name);
        let mut others = left.schema().columns_with_unqualified_name(name);
        others.extend(right.schema().columns_with_unqualified_name(name));
        others.retain(|other| *other != left_column && *other != right_column);
        Ok(Self { left: left_column, right: right_column, whole, others })
    }

    /// What the column is built from.
    fn value(&self, join_type: JoinType) -> Expr {
        let (left, right) = (Expr::Column(self.left.clone()), Expr::Column(self.right.clone()));
        match join_type {
            JoinType::Right => right,
            JoinType::Full => coalesce(vec![left, right]),
            _ => left,
        }
    }

    /// The pairs of the join: first the one that holds, then those that say what is one.
    fn pairs(&self) -> impl Iterator<Item = (Expr, Expr)> {
        let pair =
            |one: &Column, other: &Column| (Expr::Column(one.clone()), Expr::Column(other.clone()));
        let holds = pair(&self.left, &self.right);
        let says = self.others.iter().chain([&self.left]).map(move |one| pair(one, &self.whole));
        std::iter::once(holds).chain(says)
    }
}

/// A join by columns of the same names, each with the table that the merged one belongs to where
/// that is written (`scopes/naming.rs`).
pub(crate) fn join_using(
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: JoinType,
    names: &[(Option<String>, String)],
) -> Result<LogicalPlan> {
    if names.is_empty() {
        // NATURAL finds none: every row meets every other.
        return LogicalPlanBuilder::from(left).join_on(right, join_type, [lit(true)])?.build();
    }
    let shared = names.iter().map(|name| UsingColumn::new(name, &left, &right));
    let shared = shared.collect::<Result<Vec<_>>>()?;
    let on = shared.iter().flat_map(UsingColumn::pairs).collect();
    let mut columns = Vec::new();
    for column in left.schema().columns() {
        if let Some(shared) = shared.iter().find(|shared| shared.left == column) {
            let relation = shared.whole.relation.clone();
            let value = shared.value(join_type);
            columns.push(value.alias_qualified(relation, shared.whole.name.clone()));
        }
        columns.push(Expr::Column(column));
    }
    columns.extend(right.schema().columns().into_iter().map(Expr::Column));
    // Not by the builder, which would look for the merged columns in the sides of the join.
    let join = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        None,
        join_type,
        JoinConstraint::Using,
        NullEquality::NullEqualsNothing,
        false,
    )?;
    LogicalPlanBuilder::from(LogicalPlan::Join(join)).project(columns)?.build()
}

/// The names that two sides have in common, as NATURAL finds them.
pub(crate) fn common_names(left: &LogicalPlan, right: &LogicalPlan) -> Vec<String> {
    let mut names = Vec::<String>::new();
    for field in left.schema().fields() {
        let is_there = right.schema().fields().iter().any(|other| other.name() == field.name());
        if is_there && !names.contains(field.name()) {
            names.push(field.name().clone());
        }
    }
    names
}

/// Comes before all other rules.
#[derive(Debug)]
pub(crate) struct UsingRule;

impl AnalyzerRule for UsingRule {
    fn name(&self) -> &str {
        "columns_of_using"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|node| {
            let LogicalPlan::Join(mut join) = node else { return Ok(Transformed::no(node)) };
            let before = join.on.len();
            join.on.retain(|(_, right)| !is_made(right, &join.right));
            // A rule of the library that writes out all columns would leave those of USING out.
            let was_using = join.join_constraint == JoinConstraint::Using;
            join.join_constraint = JoinConstraint::On;
            let is_changed = was_using || join.on.len() < before;
            Ok(Transformed::new_transformed(LogicalPlan::Join(join), is_changed))
        })?;
        Ok(plan.data)
    }
}

/// Whether a pair says what is one: the column that it names is none of the side of the join.
fn is_made(right: &Expr, side: &LogicalPlan) -> bool {
    let Expr::Column(column) = right else { return false };
    let table = column.relation.as_ref().map(TableReference::table);
    table.is_some_and(|table| table.starts_with(BEFORE_ALL)) && !side.schema().has_column(column)
}
