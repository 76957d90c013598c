//! Finds the table of a space that a key belongs to.

use std::sync::Arc;

use tonnage_engine::{Error, KeyPart, Result};

use super::hex;
use super::layout::{MARKER_LEN, key_steps};
use crate::schema::TableSchema;

/// What a key says of its row's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOwner {
    /// A row of the table with this number.
    Table(u32),
    /// A row of a table that was dropped, or created after this classifier: pass over it.
    Other,
}

/// Tells the tables of a space apart by their keys. Immutable; share it by `Arc`.
///
/// A key is read from the left: the columns of the top-level table, then, when the key continues,
/// the number of a child table and that table's own columns, and so on.
#[derive(Debug)]
pub struct KeyClassifier {
    root_path: String,
    levels: Vec<KeyLevel>,
}

/// A table with the parts that its own columns add to a key.
#[derive(Debug)]
struct KeyLevel {
    table_id: u32,
    parent_id: Option<u32>,
    /// Neighbours of fixed width are joined into one.
    parts: Vec<KeyPart>,
}

impl KeyLevel {
    fn new(schema: &TableSchema) -> Self {
        let mut parts: Vec<KeyPart> = Vec::new();
        for step in &key_steps(schema)[schema.inherited_key_len()..] {
            match (parts.last_mut(), step.part) {
                (Some(KeyPart::Fixed(width)), KeyPart::Fixed(more)) => *width += more,
                (_, part) => parts.push(part),
            }
        }
        Self {
            table_id: schema.table_id,
            parent_id: schema.ancestors.last().map(|parent| parent.table_id),
            parts,
        }
    }

    #[inline]
    fn end(&self, key: &[u8], start: usize) -> Option<usize> {
        self.parts.iter().try_fold(start, |at, part| part.end(key, at))
    }
}

impl KeyClassifier {
    /// A classifier for the tables of one space, the top-level one among them.
    pub fn new(tables: &[Arc<TableSchema>]) -> Self {
        let mut levels: Vec<_> = tables.iter().map(|schema| KeyLevel::new(schema)).collect();
        levels.sort_by_key(|level| level.table_id);
        Self {
            root_path: tables
                .first()
                .map_or_else(String::new, |schema| schema.root_path().to_owned()),
            levels,
        }
    }

    /// The table that a key belongs to.
    ///
    /// # Errors
    /// `Corruption` for bytes that are not a key of the space.
    #[inline]
    pub fn classify(&self, key: &[u8]) -> Result<KeyOwner> {
        self.walk(key, |_, _| false).map(|(owner, _)| owner)
    }

    /// How many leading bytes of a key, of the table `ancestor_id` or one below it, are the key of
    /// its row in that table.
    ///
    /// # Errors
    /// `Corruption` for bytes that are not a key of the space; `Invalid` when the key is not of
    /// that table or below it.
    pub fn ancestor_key_len(&self, key: &[u8], ancestor_id: u32) -> Result<usize> {
        let (owner, end) = self.walk(key, |table_id, _| table_id == ancestor_id)?;
        if owner == KeyOwner::Table(ancestor_id) {
            Ok(end)
        } else {
            Err(self.not_below(key, ancestor_id))
        }
    }

    #[cold]
    fn not_below(&self, key: &[u8], ancestor_id: u32) -> Error {
        Error::invalid(format!(
            "the key {} in the space of table {} is not at or below table number {ancestor_id}",
            hex(key),
            self.root_path
        ))
    }

    /// Walks a key table by table until it ends or `stop` says so of a table and where its columns
    /// end. The answer is the table reached and where its columns end.
    #[inline]
    fn walk(&self, key: &[u8], stop: impl Fn(u32, usize) -> bool) -> Result<(KeyOwner, usize)> {
        let mut level = self
            .levels
            .first()
            .filter(|level| level.parent_id.is_none())
            .ok_or_else(|| self.corrupt_key(key))?;
        let mut start = 0;
        loop {
            let end = level.end(key, start).ok_or_else(|| self.corrupt_key(key))?;
            if end == key.len() || stop(level.table_id, end) {
                return Ok((KeyOwner::Table(level.table_id), end));
            }
            let marker = key[end..]
                .first_chunk::<MARKER_LEN>()
                .map(|bytes| u32::from_be_bytes(*bytes))
                .ok_or_else(|| self.corrupt_key(key))?;
            let child = self
                .levels
                .iter()
                .find(|child| child.table_id == marker && child.parent_id == Some(level.table_id));
            let Some(child) = child else { return Ok((KeyOwner::Other, end)) };
            (level, start) = (child, end + MARKER_LEN);
        }
    }

    #[cold]
    fn corrupt_key(&self, key: &[u8]) -> Error {
        Error::corruption(format!(
            "the key {} is none of the space of table {}: run `check`, then restore from a copy",
            hex(key),
            self.root_path
        ))
    }
}
