//! What joins cost, in rows.

use datafusion::logical_expr::LogicalPlan;

use super::conditions::{ClassMember, EquivalenceClass, FoundCondition};
use super::shape::{JoinShape, RelationSet};
use super::tree::JoinTree;
use crate::plan::estimate::{ColumnSource, column_source, estimate_rows, selectivity};

/// To hold a row in memory costs as much as to hand on this many.
const HELD: f64 = 2.0;

/// Which side a join that only keeps rows holds in memory.
#[derive(Clone, Copy)]
pub(super) enum BuildSide {
    /// The rows to keep.
    AsWritten,
    Smaller,
}

/// Some relations, joined.
#[derive(Clone, Copy)]
pub(super) struct JoinedPart {
    pub(super) relations: RelationSet,
    pub(super) rows: f64,
}

/// What is known of the relations of a tree.
pub(super) struct JoinCost<'a> {
    tree: &'a JoinTree,
    rows: Vec<f64>,
    /// About how many values the columns of each class have in their tables.
    values: Vec<f64>,
    keys: Vec<ComparedKey>,
}

/// The key of a table, all of whose columns are in classes.
struct ComparedKey {
    classes: Vec<usize>,
    rows: f64,
}

impl<'a> JoinCost<'a> {
    pub(super) fn of(tree: &'a JoinTree) -> Self {
        let sizes: Vec<f64> = tree.relations.iter().map(estimate_rows).collect();
        let values = tree.conditions.classes.iter().map(|class| class_values(class, tree, &sizes));
        let values = values.collect();
        let keys =
            (0..tree.relations.len()).filter_map(|relation| compared_key(tree, relation)).collect();
        Self { tree, rows: sizes, values, keys }
    }

    pub(super) fn relation(&self, relation: usize) -> JoinedPart {
        JoinedPart { relations: 1 << relation, rows: self.rows[relation] }
    }

    /// Whether no condition finds the rows of one part that belong to those of another.
    pub(super) fn is_cross(&self, left: &JoinedPart, right: &JoinedPart) -> bool {
        let conditions = &self.tree.conditions;
        !conditions.classes.iter().any(|class| is_between(class, left, right))
            && !conditions
                .others
                .iter()
                .any(|other| other.is_key_of(left.relations, right.relations))
    }

    pub(super) fn join(&self, left: &JoinedPart, right: &JoinedPart) -> JoinedPart {
        let conditions = &self.tree.conditions;
        let between: Vec<usize> = (0..conditions.classes.len())
            .filter(|class| is_between(&conditions.classes[*class], left, right))
            .collect();
        let others = conditions
            .others
            .iter()
            .filter(|other| other.is_between(left.relations, right.relations))
            .map(|other| self.condition_selectivity(&other.found, left.rows.min(right.rows)));
        let rows = left.rows * right.rows / self.values_of(&between) * others.product::<f64>();
        JoinedPart { relations: left.relations | right.relations, rows: rows.max(1.0) }
    }

    /// How many values the columns of classes have together. A whole key has as many as its table
    /// has rows.
    fn values_of(&self, classes: &[usize]) -> f64 {
        let is_whole = |key: &&ComparedKey| key.classes.iter().all(|class| classes.contains(class));
        let key = self.keys.iter().filter(is_whole).max_by(|a, b| a.rows.total_cmp(&b.rows));
        let is_left = |class: &&usize| !key.is_some_and(|key| key.classes.contains(class));
        let left = classes.iter().filter(is_left).map(|class| self.values[*class]);
        (key.map_or(1.0, |key| key.rows) * left.product::<f64>()).max(1.0)
    }

    fn condition_selectivity(&self, found: &FoundCondition, rows: f64) -> f64 {
        match found {
            FoundCondition::Equal(..) => 1.0 / rows.max(1.0),
            // Its columns come from several relations, none of which has all.
            FoundCondition::Filter(filter) => selectivity(filter, &LogicalPlan::default()),
        }
    }

    /// What the whole tree costs in an order.
    pub(super) fn total(&self, shape: &JoinShape, sides: BuildSide) -> f64 {
        let (mut whole, mut cost) = self.shape_cost(shape);
        for semi in self.tree.semis.iter().rev() {
            let held = match sides {
                BuildSide::AsWritten => whole.rows,
                BuildSide::Smaller => whole.rows.min(estimate_rows(&semi.plan)),
            };
            cost += whole.rows + HELD * held;
            whole.rows *= semi.selectivity(&self.tree.relations);
        }
        cost
    }

    fn shape_cost(&self, shape: &JoinShape) -> (JoinedPart, f64) {
        let (left, right) = match shape {
            JoinShape::Relation(relation) => return (self.relation(*relation), 0.0),
            JoinShape::Join(left, right) => (left, right),
        };
        let ((one, left_cost), (two, right_cost)) = (self.shape_cost(left), self.shape_cost(right));
        let joined = self.join(&one, &two);
        (joined, left_cost + right_cost + joined.rows + HELD * one.rows)
    }
}

fn is_between(class: &EquivalenceClass, left: &JoinedPart, right: &JoinedPart) -> bool {
    let is_in =
        |part: &JoinedPart| class.iter().any(|member| part.relations & (1 << member.relation) != 0);
    is_in(left) && is_in(right)
}

/// About how many values the columns of a class have in their tables: as many as the one with the
/// most, for a key has all that refer to it. Where nothing is known, the smallest table has one in
/// each row.
fn class_values(class: &EquivalenceClass, tree: &JoinTree, sizes: &[f64]) -> f64 {
    let of = |member: &ClassMember| column_source(&tree.relations[member.relation], &member.column);
    let known = class.iter().filter_map(|member| of(member)?.values()).reduce(f64::max);
    let size = |member: &ClassMember| {
        of(member).and_then(|source| source.rows()).unwrap_or(sizes[member.relation])
    };
    known.unwrap_or_else(|| class.iter().map(size).fold(f64::MAX, f64::min)).max(1.0)
}

/// The key of a relation's table, if its columns are all compared.
fn compared_key(tree: &JoinTree, relation: usize) -> Option<ComparedKey> {
    let members = tree.conditions.classes.iter().enumerate().filter_map(|(class, members)| {
        let member = members.iter().find(|member| member.relation == relation)?;
        Some((class, column_source(&tree.relations[relation], &member.column)?))
    });
    let members: Vec<(usize, ColumnSource)> = members.collect();
    let table = members.first()?.1.table.table().clone();
    let class_of = |column: &usize| {
        let is_it = |(_, source): &&(usize, ColumnSource)| {
            source.column == *column && source.table.table().table.path() == table.table.path()
        };
        Some(members.iter().find(is_it)?.0)
    };
    let key = &table.schema().key;
    let classes = key.iter().map(class_of).collect::<Option<Vec<_>>>()?;
    Some(ComparedKey { classes, rows: table.own_rows_estimate()? as f64 })
}
