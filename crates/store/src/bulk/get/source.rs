//! The sources of keys that a caller can give.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::RecordBatch;
use tonnage_engine::{Error, Result};

use super::item_source::{
    BATCHES_MAX, ItemIterator, ItemSource, SINGLE_ITEMS_MAX, SourceSender, has_items_in_memory,
};
use crate::read::ReadControl;
use crate::row::Row;
use crate::value::Value;

/// A whole or partial primary key.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkKey {
    /// The leading key columns, in key order.
    Values(Vec<Value>),
    /// Key columns by name.
    Row(Row),
    /// Key columns by name, of a table that the key itself names: an error when another table is
    /// asked.
    OfTable(Arc<str>, Row),
}

impl From<Vec<Value>> for BulkKey {
    fn from(values: Vec<Value>) -> Self {
        BulkKey::Values(values)
    }
}

impl From<Row> for BulkKey {
    fn from(row: Row) -> Self {
        BulkKey::Row(row)
    }
}

/// Where the keys of a bulk get come from.
///
/// A source may wait, for a queue or a client: the rows of the keys that it has given come when it
/// gives nothing for about a millisecond. It is then drawn from by a thread of its own.
pub struct KeySource(pub(super) KeySourceKind);

pub(super) enum KeySourceKind {
    Single(ItemSource<BulkKey>),
    Batches(ItemSource<RecordBatch>),
    /// Of several sources, each with the number of its own.
    Several(ItemSource<(u32, KeyItem)>),
    /// All rows; whether that was taken.
    All(bool),
}

/// What a source of either kind gives.
pub(super) enum KeyItem {
    Key(BulkKey),
    Batch(RecordBatch),
}

/// The most sources that one read draws from side by side, each by a thread of its own.
const SOURCES_MAX: usize = 1_024;

impl KeySource {
    /// Keys one by one, maybe endlessly many.
    pub fn keys<I, K>(keys: I) -> Self
    where
        I: IntoIterator<Item = K>,
        I::IntoIter: Send + 'static,
        K: Into<BulkKey>,
    {
        let keys = ItemSource::new(keys.into_iter().map(|key| Ok(key.into())), SINGLE_ITEMS_MAX);
        Self(KeySourceKind::Single(keys.at_hand(has_items_in_memory::<I::IntoIter>())))
    }

    /// Keys one by one from a source that may fail: the rows of the keys before the failure come
    /// first, then the failure.
    pub fn try_keys<I>(keys: I) -> Self
    where
        I: IntoIterator<Item = Result<BulkKey>>,
        I::IntoIter: Send + 'static,
    {
        let keys = ItemSource::new(keys.into_iter(), SINGLE_ITEMS_MAX);
        Self(KeySourceKind::Single(keys.at_hand(has_items_in_memory::<I::IntoIter>())))
    }

    /// Keys as record batches of leading key columns, by name: the fast way for millions. A NULL
    /// leaves its column open.
    pub fn batches<I>(batches: I) -> Self
    where
        I: IntoIterator<Item = Result<RecordBatch>>,
        I::IntoIter: Send + 'static,
    {
        let batches = ItemSource::new(batches.into_iter(), BATCHES_MAX);
        Self(KeySourceKind::Batches(batches.at_hand(has_items_in_memory::<I::IntoIter>())))
    }
}

impl KeySource {
    /// All rows: no key is asked for. With a range on the first key column those of that range,
    /// across shard keys, which needs an engine that keeps all rows in one order.
    pub fn all() -> Self {
        Self(KeySourceKind::All(false))
    }

    /// Several sources that are drawn from side by side, at most 1,024: one that waits holds up no
    /// other. With a direction they are answered one after another.
    pub fn side_by_side(sources: impl IntoIterator<Item = KeySource>) -> Self {
        let mut all: VecDeque<ItemIterator<(u32, KeyItem)>> = VecDeque::new();
        for (number, source) in sources.into_iter().enumerate() {
            all.push_back(source.with_number(number));
        }
        if all.len() > SOURCES_MAX {
            let refused = Err(Error::invalid(format!(
                "{} sources of keys side by side: at most {SOURCES_MAX}",
                all.len()
            )));
            all = VecDeque::from([Box::new(std::iter::once(refused)) as ItemIterator<_>]);
        }
        let weight = |(_, item): &(u32, KeyItem)| match item {
            KeyItem::Key(_) => 1,
            KeyItem::Batch(_) => SINGLE_ITEMS_MAX / BATCHES_MAX,
        };
        Self(KeySourceKind::Several(ItemSource::several(all, SINGLE_ITEMS_MAX).with_weight(weight)))
    }

    /// A source that keys are pushed into while the read runs, by any number of threads. It ends
    /// when all senders are gone. A key is looked up when nothing else was pushed for some tens of
    /// microseconds.
    pub fn channel() -> (KeySender, Self) {
        let (sender, source) = ItemSource::pushed(SINGLE_ITEMS_MAX);
        (KeySender(sender), Self(KeySourceKind::Single(source)))
    }

    /// What it gives, each with the number of the source.
    fn with_number(self, number: usize) -> ItemIterator<(u32, KeyItem)> {
        let number = number as u32;
        match self.0 {
            KeySourceKind::Single(mut keys) => Box::new(std::iter::from_fn(move || {
                keys.next().transpose().map(|key| key.map(|key| (number, KeyItem::Key(key))))
            })),
            KeySourceKind::Batches(mut batches) => Box::new(std::iter::from_fn(move || {
                let batch = batches.next().transpose();
                batch.map(|batch| batch.map(|batch| (number, KeyItem::Batch(batch))))
            })),
            KeySourceKind::Several(mut several) => Box::new(std::iter::from_fn(move || {
                several.next().transpose().map(|item| item.map(|(_, item)| (number, item)))
            })),
            KeySourceKind::All(_) => Box::new(std::iter::once(Err(Error::invalid(
                "all rows are asked for beside keys: ask for them alone",
            )))),
        }
    }
}

/// Pushes keys into a running bulk get; see [`KeySource::channel`]. Clones push into the same.
#[derive(Clone)]
pub struct KeySender(SourceSender<BulkKey>);

impl KeySender {
    /// Hands a key over; waits while a thousand keys are in line.
    ///
    /// # Errors
    /// `Cancelled` when the read has ended.
    pub fn push(&self, key: impl Into<BulkKey>) -> Result<()> {
        self.0.push(key.into())
    }

    /// The same without waiting: gives the key back when there is no room now.
    ///
    /// # Errors
    /// As [`KeySender::push`].
    pub fn try_push(&self, key: impl Into<BulkKey>) -> Result<Option<BulkKey>> {
        self.0.try_push(key.into())
    }
}

impl std::fmt::Debug for KeySender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeySender")
    }
}

impl std::fmt::Debug for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            KeySourceKind::Single(_) => "KeySource of keys",
            KeySourceKind::Batches(_) => "KeySource of batches",
            KeySourceKind::Several(_) => "KeySource of several",
            KeySourceKind::All(_) => "KeySource of all rows",
        })
    }
}

impl KeySourceKind {
    pub(super) fn is_at_hand(&self) -> bool {
        match self {
            KeySourceKind::Single(keys) => keys.is_at_hand(),
            KeySourceKind::Batches(batches) => batches.is_at_hand(),
            KeySourceKind::Several(several) => several.is_at_hand(),
            KeySourceKind::All(_) => true,
        }
    }

    pub(super) fn detach(&mut self) {
        match self {
            KeySourceKind::Single(keys) => keys.detach(),
            KeySourceKind::Batches(batches) => batches.detach(),
            KeySourceKind::Several(several) => several.detach(),
            KeySourceKind::All(_) => {}
        }
    }

    pub(super) fn watch(&mut self, control: &Arc<ReadControl>) {
        match self {
            KeySourceKind::Single(keys) => keys.watch(control),
            KeySourceKind::Batches(batches) => batches.watch(control),
            KeySourceKind::Several(several) => several.watch(control),
            KeySourceKind::All(_) => {}
        }
    }

    pub(super) fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            KeySourceKind::Single(keys) => keys.size_hint(),
            KeySourceKind::Batches(batches) => batches.size_hint(),
            KeySourceKind::Several(several) => several.size_hint(),
            KeySourceKind::All(is_taken) => {
                let left = usize::from(!is_taken);
                (left, Some(left))
            }
        }
    }
}

impl From<RecordBatch> for KeySource {
    fn from(keys: RecordBatch) -> Self {
        Self::from(vec![keys])
    }
}

impl From<Vec<RecordBatch>> for KeySource {
    fn from(keys: Vec<RecordBatch>) -> Self {
        Self(KeySourceKind::Batches(
            ItemSource::new(keys.into_iter().map(Ok), BATCHES_MAX).at_hand(true),
        ))
    }
}

impl From<Vec<Row>> for KeySource {
    fn from(keys: Vec<Row>) -> Self {
        Self::keys(keys)
    }
}

impl From<Vec<Vec<Value>>> for KeySource {
    fn from(keys: Vec<Vec<Value>>) -> Self {
        Self::keys(keys)
    }
}
