//! Semi-joins pushed down to the table that has their keys.

use super::semi::KEPT_MAX;
use super::tree::JoinTree;
use crate::plan::estimate::estimate_rows;

/// The tree with these joins right above the relations that have their keys, where they keep few of
/// the rows, and what that costs: the rows that are held against them.
pub(super) fn push_down_semi_joins(tree: &JoinTree) -> Option<(JoinTree, f64)> {
    let (mut lowered, mut cost) = (tree.clone(), 0.0);
    lowered.semis.clear();
    for semi in tree.semis.iter().rev() {
        match semi.relation.filter(|_| semi.selectivity(&tree.relations) <= KEPT_MAX) {
            Some(place) => {
                let relation = lowered.relations[place].clone();
                let tested = estimate_rows(&relation);
                cost += tested;
                let is_smaller = estimate_rows(&semi.plan) < tested;
                lowered.relations[place] = semi.clone().join_onto(relation, is_smaller).ok()?;
            }
            None => lowered.semis.insert(0, semi.clone()),
        }
    }
    (lowered.semis.len() < tree.semis.len()).then_some((lowered, cost))
}
