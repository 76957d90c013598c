//! Greedy join order: the smallest join comes first.

use super::cost::{JoinCost, JoinedPart};
use super::shape::JoinShape;
use super::tree::JoinTree;

/// Joins the two parts whose join is smallest, until there is one. Parts that nothing joins wait
/// until nothing else is left.
pub(super) fn greedy_shape(tree: &JoinTree, cost: &JoinCost) -> JoinShape {
    let mut parts: Vec<(JoinedPart, JoinShape)> = (0..tree.relations.len())
        .map(|relation| (cost.relation(relation), JoinShape::Relation(relation)))
        .collect();
    while parts.len() > 1 {
        let (one, other, joined) = smallest_join(&parts, cost);
        let (second, first) = (parts.remove(other), parts.remove(one));
        let is_smaller = first.0.rows <= second.0.rows;
        let (left, right) = if is_smaller { (first, second) } else { (second, first) };
        parts.push((joined, JoinShape::join(left.1, right.1)));
    }
    parts.remove(0).1
}

/// The indexes of the two parts to join next, the lower one first, and what they become.
fn smallest_join(parts: &[(JoinedPart, JoinShape)], cost: &JoinCost) -> (usize, usize, JoinedPart) {
    let pairs =
        (0..parts.len()).flat_map(|one| (one + 1..parts.len()).map(move |other| (one, other)));
    let joined = pairs.map(|(one, other)| {
        let (left, right) = (&parts[one].0, &parts[other].0);
        (cost.is_cross(left, right), left.rows + right.rows, one, other, cost.join(left, right))
    });
    let least = joined.min_by(|one, other| {
        let by_rows = one.4.rows.total_cmp(&other.4.rows);
        one.0.cmp(&other.0).then(by_rows).then(one.1.total_cmp(&other.1))
    });
    let (_, _, one, other, joined) = least.expect("there are two parts");
    (one, other, joined)
}
