//! Covers: ranges of cells that hold a region.

use std::collections::VecDeque;

use super::cell::{self, LEVEL_MAX};
use super::region::Region;
use super::relation::Relation;
use super::square::Square;

impl Region {
    /// How many pieces a cover is made of where nothing else is known: the ranges of a box then
    /// hold about 1.07 times what is in it, those of a circle 1.14 times.
    pub const PIECES: usize = 64;

    /// Ranges of cells of a level, ascending and apart, both ends included. They hold the cell of
    /// every place in the region, and others. They are made of at most `pieces_max` squares, or
    /// a few more where that is very small.
    pub fn cover(&self, level: u8, pieces_max: usize) -> Vec<(i64, i64)> {
        let level = level.clamp(1, LEVEL_MAX);
        let mut pieces = self.pieces(level, pieces_max);
        pieces.sort_unstable();
        let mut ranges: Vec<(i64, i64)> = Vec::with_capacity(pieces.len());
        for (first, last) in pieces {
            let (first, last) = (cell::of_position(first, level), cell::of_position(last, level));
            match ranges.last_mut() {
                Some((_, end)) if end.checked_add(1).is_none_or(|next| first <= next) => {
                    *end = last.max(*end)
                }
                _ => ranges.push((first, last)),
            }
        }
        ranges
    }

    /// Squares that hold the region, as stretches of the curve: level by level those outside are
    /// dropped, those inside are kept, and those across are split while there are few.
    fn pieces(&self, level: u8, pieces_max: usize) -> Vec<(u64, u64)> {
        let (mut kept, mut across) = (Vec::new(), VecDeque::from([Square::GLOBE]));
        while let Some(square) = across.pop_front() {
            let children = square.children().map(|child| (child, self.relation(child)));
            let children = children.into_iter().filter(|(_, own)| *own != Relation::Outside);
            // One child, or none, takes no more room than the square.
            let is_full = kept.len() + across.len() + children.clone().count() > pieces_max.max(1);
            if is_full && children.clone().count() > 1 {
                kept.push(square.positions());
                continue;
            }
            for (child, relation) in children {
                match relation == Relation::Inside || child.level == level {
                    true => kept.push(child.positions()),
                    false => across.push_back(child),
                }
            }
        }
        kept
    }
}
