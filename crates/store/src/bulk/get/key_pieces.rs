//! Keys as their source gives them, for callers that send them elsewhere: to a server, for
//! instance.

use arrow::array::RecordBatch;
use tonnage_engine::{Error, Result};

use super::item_source::{ItemSource, SINGLE_ITEMS_MAX, SourcePoll, WaitLimit};
use super::source::{BulkKey, KeySource, KeySourceKind};

/// The keys of a [`KeySource`], some at a time.
#[derive(Debug)]
pub struct KeyPieces {
    source: KeySource,
    keys_max: usize,
    /// What ended the source, told behind the keys before it.
    failure: Option<Error>,
}

/// Keys that a source gave together.
#[derive(Debug)]
pub enum KeyPiece {
    /// Keys that came one by one.
    Keys(Vec<BulkKey>),
    /// A batch of leading key columns.
    Batch(RecordBatch),
}

impl KeyPieces {
    /// Takes single keys up to so many at a time, and fewer where the source makes a pause.
    pub fn new(source: KeySource, keys_max: usize) -> Self {
        Self { source, keys_max, failure: None }
    }

    /// Whether keys come one by one, and not as batches.
    pub fn are_single(&self) -> bool {
        matches!(self.source.0, KeySourceKind::Single(_))
    }

    /// Whether there are no keys, as far as is known without waiting.
    pub fn is_empty(&self) -> bool {
        self.source.0.is_at_hand() && self.source.0.size_hint().1 == Some(0)
    }

    /// Whether one key comes alone, and is at hand.
    pub fn is_one(&self) -> bool {
        self.are_single() && self.source.0.is_at_hand() && self.source.0.size_hint().1 == Some(1)
    }
}

impl Iterator for KeyPieces {
    type Item = Result<KeyPiece>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { source: KeySource(source), keys_max, failure } = self;
        match source {
            KeySourceKind::Batches(batches) => {
                batches.next().transpose().map(|batch| batch.map(KeyPiece::Batch))
            }
            KeySourceKind::Single(keys) => {
                next_items(keys, *keys_max, failure).map(|keys| keys.map(KeyPiece::Keys))
            }
            KeySourceKind::Several(_) => Some(Err(Error::unsupported(
                "keys of several sources side by side, through a server: give them in one source",
            ))),
            KeySourceKind::All(_) => Some(Err(Error::unsupported(
                "all rows in place of keys, through a server: scan the table",
            ))),
        }
    }
}

/// Items one by one, some at a time.
pub struct ItemPieces<T> {
    source: ItemSource<T>,
    items_max: usize,
    failure: Option<Error>,
}

impl<T: Send + 'static> ItemPieces<T> {
    /// Takes up to so many at a time, and fewer where the source makes a pause.
    pub fn new<I>(items: I, items_max: usize) -> Self
    where
        I: Iterator<Item = Result<T>> + Send + 'static,
    {
        Self { source: ItemSource::new(items, SINGLE_ITEMS_MAX), items_max, failure: None }
    }
}

impl<T: Send + 'static> Iterator for ItemPieces<T> {
    type Item = Result<Vec<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        next_items(&mut self.source, self.items_max, &mut self.failure)
    }
}

impl<T> std::fmt::Debug for ItemPieces<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ItemPieces").finish_non_exhaustive()
    }
}

/// The items that come together; nothing at the end.
fn next_items<T: Send + 'static>(
    source: &mut ItemSource<T>,
    items_max: usize,
    failure: &mut Option<Error>,
) -> Option<Result<Vec<T>>> {
    if let Some(failure) = failure.take() {
        return Some(Err(failure));
    }
    // A source that may wait is drawn from by a thread of its own: its pauses are then seen.
    source.detach();
    let mut items = Vec::new();
    while items.len() < items_max {
        let patience = if items.is_empty() { WaitLimit::Endless } else { WaitLimit::MOMENT };
        match source.next_within(patience) {
            Ok(SourcePoll::Item(item)) => items.push(item),
            Ok(_) => break,
            Err(error) if items.is_empty() => return Some(Err(error)),
            Err(error) => {
                *failure = Some(error);
                break;
            }
        }
    }
    (!items.is_empty()).then_some(Ok(items))
}
