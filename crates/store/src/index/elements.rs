//! Entries of a row for each part of an array or a map.
//!
//! The paths of all columns of such an index walk into the same arrays and maps: where one goes on
//! into an array inside, the others stay outside of it. So the parts are walked over once, in one
//! chain of steps, and each innermost part gives an entry. What a part lacks is NULL, and so is all
//! that is inside an array without elements: each row has at least one entry.

use tonnage_engine::{Error, Result};

use super::definition::{IndexColumn, ResolvedColumn};
use super::node::Node;
use super::path_step::{PathParts, PathStep};

/// The most entries of one row. More would make one row cost as much as a load.
pub(super) const ENTRIES_MAX: usize = 10_000;

/// How an index walks over the parts of an array or a map.
#[derive(Debug)]
pub(super) struct ElementWalk {
    /// The place of the column of the index whose path walks furthest.
    pub(super) root: usize,
    /// The steps to the innermost part.
    steps: Vec<PathStep>,
    /// For each column of the index how many of these steps its path takes; 0 of those that lead to
    /// one value.
    depths: Vec<usize>,
}

/// How many steps of a path lead to the innermost of several parts.
fn depth(path: &[PathStep]) -> usize {
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

impl ElementWalk {
    /// None for an index whose paths all lead to one value.
    pub(super) fn of(columns: &[ResolvedColumn]) -> Option<Self> {
        let depths: Vec<usize> = columns.iter().map(|column| depth(&column.shown.path)).collect();
        let deepest = *depths.iter().max()?;
        // Of several that walk as far any will do: keys and values come in pairs.
        let root = depths.iter().position(|depth| *depth == deepest)?;
        let steps = columns[root].shown.path[..deepest].to_vec();
        (deepest > 0).then_some(Self { root, steps, depths })
    }

    /// Whether a column has another cell for each part.
    pub(super) fn is_walked(&self, column: usize) -> bool {
        self.depths[column] > 0
    }

    /// Calls `emit` with the cells of each innermost part. `cells` holds those of the columns that
    /// are not walked.
    ///
    /// # Errors
    /// `Invalid` for more than [`ENTRIES_MAX`] parts, or what `emit` answers.
    pub(super) fn walk(
        &self,
        columns: &[ResolvedColumn],
        root: Node<'_>,
        cells: &mut [Vec<u8>],
        emit: &mut dyn FnMut(&[Vec<u8>]) -> Result<()>,
    ) -> Result<()> {
        let mut count = 0;
        let mut emit = |cells: &[Vec<u8>]| {
            count += 1;
            if count > ENTRIES_MAX { Err(too_many()) } else { emit(cells) }
        };
        self.descend(columns, 0, root, cells, &mut emit)
    }

    fn descend(
        &self,
        columns: &[ResolvedColumn],
        at: usize,
        node: Node<'_>,
        cells: &mut [Vec<u8>],
        emit: &mut dyn FnMut(&[Vec<u8>]) -> Result<()>,
    ) -> Result<()> {
        let names = self.steps[at..].iter().take_while(|step| !step.is_each()).count();
        let Some(PathStep::Each(parts)) = self.steps.get(at + names) else { return emit(cells) };
        let (inside, next) = (node.at(&self.steps[at..at + names]), at + names + 1);
        let found = inside.parts(*parts);
        if found.is_empty() {
            self.fill(columns, next.., &Node::Nothing, &Node::Nothing, cells);
            return emit(cells);
        }
        for (key, value) in found {
            self.fill(columns, next..next + 1, &key, &value, cells);
            self.descend(columns, next, value, cells, emit)?;
        }
        Ok(())
    }

    /// Sets the cells of the columns whose paths take so many steps of the walk.
    fn fill(
        &self,
        columns: &[ResolvedColumn],
        depths: impl std::ops::RangeBounds<usize>,
        key: &Node<'_>,
        value: &Node<'_>,
        cells: &mut [Vec<u8>],
    ) {
        for (place, own) in self.depths.iter().enumerate() {
            if *own == 0 || !depths.contains(own) {
                continue;
            }
            let IndexColumn { path, function, .. } = &columns[place].shown;
            let cell = &mut cells[place];
            cell.clear();
            match &path[own - 1] {
                PathStep::Each(PathParts::Keys) => key.push_cell(function.as_ref(), cell),
                _ => value.clone().at(&path[*own..]).push_cell(function.as_ref(), cell),
            }
        }
    }
}

#[cold]
fn too_many() -> Error {
    Error::invalid(format!(
        "a row would have more than {ENTRIES_MAX} entries, which is the most: index a smaller array"
    ))
}
