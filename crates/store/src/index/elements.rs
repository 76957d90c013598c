//! Entries of a row for each part of an array or a map.
//!
//! The paths of all columns of such an index walk into the same arrays and maps: where one continues
//! into an array inside, the others stay outside of it. So the parts are walked over once, in one
//! chain of steps, and each innermost part gives an entry. What a part lacks is NULL, and so is all
//! that is inside an array without elements: each row has at least one entry.

use tonnage_engine::{Error, Result};

use super::definition::{IndexColumn, ResolvedColumn};
use super::node::Node;
use super::path_step::{PathParts, PathStep};
use super::path_walks::depth;

/// The most entries of one row. More would make one row cost as much as a load.
pub(super) const ENTRIES_MAX: usize = 10_000;

/// How an index walks over the parts of an array or a map.
#[derive(Debug)]
pub(super) struct ElementWalk {
    /// The position of the column of the index whose path walks furthest.
    pub(super) root: usize,
    /// The steps to the innermost part.
    steps: Vec<PathStep>,
    /// For each column of the index how many of these steps its path takes; 0 of those that lead to
    /// one value.
    depths: Vec<usize>,
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
