//! Parsed statements and their plans, kept for the next time that the same text comes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use tonnage::internal::sync::lock;
use tonnage::{Error, Result};

use super::cached_query::CachedQuery;
use super::statement::ParsedStatement;
use crate::text::{Piece, pieces};

/// Longer texts are rarely the same twice, and hold much memory.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// One statement, parsed at most once.
pub(crate) struct CachedStatement {
    pub(crate) query: CachedQuery,
    parsed: OnceLock<Result<ParsedStatement>>,
}

impl CachedStatement {
    pub(crate) fn new(piece: Piece) -> Self {
        Self { query: CachedQuery::new(piece), parsed: OnceLock::new() }
    }

    pub(crate) fn piece(&self) -> &Piece {
        &self.query.piece
    }

    /// The statement by its kind. A query is parsed by the planner alone.
    pub(crate) fn parsed(&self) -> Result<&ParsedStatement> {
        let parsed = self.parsed.get_or_init(|| ParsedStatement::read(self.piece()));
        parsed.as_ref().map_err(Error::restated)
    }

    /// Finds what is wrong with the text before it is carried out.
    pub(crate) fn check(&self) -> Result<()> {
        match self.query.simple() {
            Some(_) => Ok(()),
            None => self.parsed()?.check(self.piece()),
        }
    }
}

/// The statements of one text.
pub(crate) type CachedStatements = Arc<Vec<Arc<CachedStatement>>>;

/// Texts by what they say; the ones that were not used for longest make room.
pub(crate) struct StatementCache {
    texts_max: usize,
    texts: Mutex<CachedTexts>,
}

#[derive(Default)]
struct CachedTexts {
    by_text: HashMap<String, (u64, CachedStatements)>,
    clock: u64,
}

impl StatementCache {
    pub(crate) fn new(texts_max: usize) -> Self {
        Self { texts_max, texts: Mutex::default() }
    }

    /// The statements of a text.
    pub(crate) fn statements(&self, text: &str) -> Result<CachedStatements> {
        let keeps = self.texts_max > 0 && text.len() <= TEXT_BYTES_MAX;
        if keeps && let Some(found) = lock(&self.texts).find(text) {
            return Ok(found);
        }
        let statements: CachedStatements = Arc::new(
            pieces(text)?.into_iter().map(|piece| Arc::new(CachedStatement::new(piece))).collect(),
        );
        if keeps {
            lock(&self.texts).insert(text, &statements, self.texts_max);
        }
        Ok(statements)
    }
}

impl CachedTexts {
    fn find(&mut self, text: &str) -> Option<CachedStatements> {
        self.clock += 1;
        let (used, statements) = self.by_text.get_mut(text)?;
        *used = self.clock;
        Some(statements.clone())
    }

    fn insert(&mut self, text: &str, statements: &CachedStatements, texts_max: usize) {
        if self.by_text.len() >= texts_max {
            self.evict_older_half();
        }
        self.by_text.insert(text.to_owned(), (self.clock, statements.clone()));
    }

    /// Forgets the older half, so that making room is rare.
    fn evict_older_half(&mut self) {
        let mut used: Vec<u64> = self.by_text.values().map(|(used, _)| *used).collect();
        used.sort_unstable();
        let median = used[used.len() / 2];
        self.by_text.retain(|_, (used, _)| *used > median);
    }
}
