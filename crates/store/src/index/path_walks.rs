//! Which paths may be in one index: those that walk over the parts of the same arrays and maps.

use super::path_step::PathStep;

/// How many steps of a path lead to the innermost of several parts.
pub(super) fn depth(path: &[PathStep]) -> usize {
    path.iter().rposition(PathStep::is_each).map_or(0, |last| last + 1)
}

/// Checks that the paths of an index walk into the same arrays and maps. Each comes with what tells
/// its column of the table from others.
pub(super) fn check_paths<'p>(
    paths: impl Iterator<Item = (u16, &'p [PathStep])> + Clone,
) -> std::result::Result<(), &'static str> {
    let walks = paths.clone().map(|(column, path)| (column, &path[..depth(path)]));
    let mut walks: Vec<_> = walks.filter(|(_, steps)| !steps.is_empty()).collect();
    walks.sort_by_key(|(_, steps)| steps.len());
    let walks_with = |one: &[PathStep], two: &[PathStep]| {
        one.iter().zip(two).all(|(one, two)| one.walks_with(two))
    };
    let is_inside =
        walks.windows(2).all(|pair| pair[0].0 == pair[1].0 && walks_with(pair[0].1, pair[1].1));
    if !is_inside {
        return Err("walks into another array or map than a column before: make an index for each");
    }
    let goes_on_after_keys = |path: &[PathStep]| {
        path.iter().zip(path.iter().skip(1)).any(|(step, _)| *step == PathStep::KEYS)
    };
    match paths.clone().any(|(_, path)| goes_on_after_keys(path)) {
        true => Err("continues after keys(), which are text: end the path there"),
        false => Ok(()),
    }
}
