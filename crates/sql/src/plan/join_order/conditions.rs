//! The conditions that join the relations of a tree.

use std::collections::HashMap;

use arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;

use super::column_relations::ColumnRelations;
use super::shape::{RelationSet, is_within};

/// A condition as it was found.
#[derive(Clone, Debug)]
pub(super) enum FoundCondition {
    Equal(Expr, Expr),
    Filter(Expr),
}

/// A column of a relation.
#[derive(Clone, Debug)]
pub(super) struct ClassMember {
    pub(super) relation: usize,
    pub(super) column: Column,
}

/// Columns that are all equal, one of each relation at most.
///
/// In a part of the tree that holds several, they are equal already: each join that brings two of
/// them together compares one of either side.
pub(super) type EquivalenceClass = Vec<ClassMember>;

/// A condition on several relations that is not a class.
#[derive(Clone, Debug)]
pub(super) struct OtherCondition {
    pub(super) found: FoundCondition,
    /// The relations of both sides, or of all of a filter.
    pub(super) relations: [RelationSet; 2],
}

/// All conditions of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeConditions {
    pub(super) classes: Vec<EquivalenceClass>,
    pub(super) others: Vec<OtherCondition>,
}

/// The conditions of one join.
#[derive(Default)]
pub(super) struct JoinConditions {
    pub(super) on: Vec<(Expr, Expr)>,
    pub(super) filters: Vec<Expr>,
}

impl TreeConditions {
    /// Puts conditions in order; `None` where one must stay where it is.
    pub(super) fn of(
        found: &[FoundCondition],
        relations_by_column: &ColumnRelations,
    ) -> Option<Self> {
        let mut conditions = Self::default();
        // All are gathered first: two equalities of one class may be found far apart.
        let mut equalities = Vec::new();
        for one in found {
            match equality(one, relations_by_column) {
                Some(members) => equalities.push((members, one)),
                None => conditions.others.push(other_condition(one, relations_by_column)?),
            }
        }
        // Two columns of one relation would need a test that no join makes: such a class falls back
        // into its equalities.
        for (class, of) in equivalence_classes(&equalities) {
            let mut relations: Vec<usize> = class.iter().map(|member| member.relation).collect();
            relations.sort_unstable();
            if relations.windows(2).all(|pair| pair[0] != pair[1]) {
                conditions.classes.push(class);
                continue;
            }
            for equality in of {
                conditions
                    .others
                    .push(other_condition(equalities[equality].1, relations_by_column)?);
            }
        }
        Some(conditions)
    }

    /// The conditions that can be evaluated once two parts are joined, and not before.
    pub(super) fn between(&self, left: RelationSet, right: RelationSet) -> JoinConditions {
        let mut between = JoinConditions::default();
        // One pair of a class is enough: within each part its columns are equal already.
        for class in &self.classes {
            let of = |part: RelationSet| {
                let member = class.iter().find(|member| part & (1 << member.relation) != 0)?;
                Some(Expr::Column(member.column.clone()))
            };
            if let (Some(left), Some(right)) = (of(left), of(right)) {
                between.on.push((left, right));
            }
        }
        for other in self.others.iter().filter(|other| other.is_between(left, right)) {
            let [one, two] = other.relations;
            match &other.found {
                FoundCondition::Filter(filter) => between.filters.push(filter.clone()),
                FoundCondition::Equal(a, b) if is_within(one, left) && is_within(two, right) => {
                    between.on.push((a.clone(), b.clone()));
                }
                FoundCondition::Equal(a, b) if is_within(one, right) && is_within(two, left) => {
                    between.on.push((b.clone(), a.clone()));
                }
                FoundCondition::Equal(a, b) => between.filters.push(a.clone().eq(b.clone())),
            }
        }
        between
    }
}

impl OtherCondition {
    pub(super) fn is_between(&self, left: RelationSet, right: RelationSet) -> bool {
        let all = self.relations[0] | self.relations[1];
        is_within(all, left | right) && !is_within(all, left) && !is_within(all, right)
    }

    /// Whether it is one that a join of these parts finds rows by.
    pub(super) fn is_key_of(&self, left: RelationSet, right: RelationSet) -> bool {
        let [one, two] = self.relations;
        let is_split = is_within(one, left) && is_within(two, right)
            || is_within(one, right) && is_within(two, left);
        matches!(self.found, FoundCondition::Equal(..)) && is_split
    }
}

/// Two columns whose equality may be carried on to others: a = b and b = c imply a = c.
fn equality(
    found: &FoundCondition,
    relations_by_column: &ColumnRelations,
) -> Option<[ClassMember; 2]> {
    let FoundCondition::Equal(Expr::Column(left), Expr::Column(right)) = found else { return None };
    let (one, two) = (relations_by_column.get(left)?, relations_by_column.get(right)?);
    let is_carried_on = one.relation != two.relation
        && one.data_type == two.data_type
        && is_plainly_equal(&one.data_type);
    let member = |relation, column: &Column| ClassMember { relation, column: column.clone() };
    is_carried_on.then(|| [member(one.relation, left), member(two.relation, right)])
}

/// Whether equal values of a type are the same bytes: no floats, and nothing that holds others.
fn is_plainly_equal(data_type: &DataType) -> bool {
    data_type.is_integer()
        || data_type.is_temporal()
        || data_type.is_decimal()
        || matches!(data_type, DataType::Boolean | DataType::Utf8 | DataType::Utf8View)
        || matches!(data_type, DataType::Binary | DataType::FixedSizeBinary(_))
}

fn other_condition(
    found: &FoundCondition,
    relations_by_column: &ColumnRelations,
) -> Option<OtherCondition> {
    let relations = match found {
        FoundCondition::Equal(left, right) => {
            [relations_of(left, relations_by_column)?, relations_of(right, relations_by_column)?]
        }
        FoundCondition::Filter(filter) => [relations_of(filter, relations_by_column)?; 2],
    };
    let all = relations[0] | relations[1];
    // One on a single relation belongs below, unless something holds it.
    (all.count_ones() > 1).then(|| OtherCondition { found: found.clone(), relations })
}

/// The relations of an expression that may be evaluated anywhere.
fn relations_of(expr: &Expr, relations_by_column: &ColumnRelations) -> Option<RelationSet> {
    let holds = |part: &Expr| {
        let is_held = matches!(
            part,
            Expr::ScalarSubquery(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
        );
        Ok(is_held)
    };
    if expr.is_volatile() || expr.exists(holds).unwrap_or(true) {
        return None;
    }
    let columns = expr.column_refs();
    columns
        .iter()
        .try_fold(0, |all, column| Some(all | 1 << relations_by_column.get(*column)?.relation))
}

/// Classes of columns that are equal, each with its equalities.
fn equivalence_classes(
    equalities: &[([ClassMember; 2], &FoundCondition)],
) -> Vec<(EquivalenceClass, Vec<usize>)> {
    let mut classes: Vec<(EquivalenceClass, Vec<usize>)> = Vec::new();
    let mut of: HashMap<Column, usize> = HashMap::new();
    for (place, (members, _)) in equalities.iter().enumerate() {
        let known = [0, 1].map(|side| of.get(&members[side].column).copied());
        let class = match known {
            [Some(one), Some(two)] if one != two => {
                // The emptied class keeps its index, since `of` returns indexes.
                let (moved, told) = std::mem::take(&mut classes[two]);
                for member in &moved {
                    of.insert(member.column.clone(), one);
                }
                classes[one].0.extend(moved);
                classes[one].1.extend(told);
                one
            }
            [Some(class), _] | [None, Some(class)] => class,
            [None, None] => {
                classes.push(Default::default());
                classes.len() - 1
            }
        };
        for member in members {
            if of.insert(member.column.clone(), class).is_none() {
                classes[class].0.push(member.clone());
            }
        }
        // Also one that adds nothing: a class that falls back gives all its equalities.
        classes[class].1.push(place);
    }
    classes.retain(|(class, _)| !class.is_empty());
    classes
}
