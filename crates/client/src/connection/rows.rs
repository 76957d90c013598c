//! Rows and pairs as they come, from a store of this process or from a server.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tonnage::{
    BulkGet, BulkPairs, InterleavedBatch, Key, MultiGet, Pair, PairBatch, Result, RowsWithin,
    TableBatch,
};

use super::delegate::{delegate, either};
use crate::bulk_get::RemoteBulkGet;
use crate::multi_get::RemoteMultiGet;
use crate::pair_batch::{RemotePairBatch, RemotePairs};

either! {
    /// The rows of a bulk get or of a scan, an iterator of record batches.
    #[derive(Debug)]
    AnyBulkGet: BulkGet, RemoteBulkGet
}

either! {
    /// The rows of regions, an iterator of record batches.
    #[derive(Debug)]
    AnyRowsWithin: RowsWithin, RemoteBulkGet
}

either! {
    /// The answers of a multi-get, an iterator.
    #[derive(Debug)]
    AnyMultiGet: MultiGet, RemoteMultiGet
}

either! {
    /// The pairs of a bulk get or of a scan, an iterator of batches.
    #[derive(Debug)]
    AnyPairs: BulkPairs, RemotePairs
}

either! {
    /// Pairs that came together.
    #[derive(Debug)]
    AnyPairBatch: PairBatch, RemotePairBatch
}

impl AnyBulkGet {
    /// As [`BulkGet::schema`].
    pub fn schema(&self) -> &SchemaRef {
        match self {
            Self::Embedded(rows) => rows.schema(),
            Self::Remote(rows) => rows.schema(),
        }
    }

    /// As [`BulkGet::schemas`].
    pub fn schemas(&self) -> &[(Arc<str>, SchemaRef)] {
        match self {
            Self::Embedded(rows) => rows.schemas(),
            Self::Remote(rows) => rows.schemas(),
        }
    }

    /// As [`BulkGet::into_interleaved`].
    pub fn into_interleaved(self) -> Box<dyn Iterator<Item = Result<InterleavedBatch>> + Send> {
        match self {
            Self::Embedded(rows) => Box::new(rows.into_interleaved()),
            Self::Remote(rows) => Box::new(rows.into_interleaved()),
        }
    }
}

impl Iterator for AnyBulkGet {
    type Item = Result<TableBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Embedded(rows) => rows.next(),
            Self::Remote(rows) => rows.next(),
        }
    }
}

impl AnyRowsWithin {
    /// As [`RowsWithin::schema`].
    pub fn schema(&self) -> &SchemaRef {
        match self {
            Self::Embedded(rows) => rows.schema(),
            Self::Remote(rows) => rows.schema(),
        }
    }
}

impl Iterator for AnyRowsWithin {
    type Item = Result<TableBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Embedded(rows) => rows.next(),
            Self::Remote(rows) => rows.next(),
        }
    }
}

impl AnyMultiGet {
    /// As [`MultiGet::into_answers`].
    pub fn into_answers(self) -> Vec<Result<Vec<TableBatch>>> {
        match self {
            Self::Embedded(answers) => answers.into_answers(),
            Self::Remote(answers) => answers.into_answers(),
        }
    }
}

impl Iterator for AnyMultiGet {
    type Item = (usize, Result<TableBatch>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Embedded(answers) => answers.next(),
            Self::Remote(answers) => answers.next(),
        }
    }
}

impl Iterator for AnyPairs {
    type Item = Result<AnyPairBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Embedded(pairs) => Some(pairs.next()?.map(Into::into)),
            Self::Remote(pairs) => Some(pairs.next()?.map(Into::into)),
        }
    }
}

delegate! {
    AnyPairBatch:
    /// As [`PairBatch::key`].
    fn key(&self, index: usize) -> Result<Key>;
    /// As [`PairBatch::pair`].
    fn pair(&self, index: usize) -> Result<Pair>;
}

/// Passes a call on whose answer is no [`Result`].
macro_rules! plainly {
    ($($(#[$meta:meta])* fn $call:ident(&self $(, $argument:ident: $given:ty)*) -> $answer:ty;)*) => {
        impl AnyPairBatch {
            $(
                $(#[$meta])*
                pub fn $call(&self $(, $argument: $given)*) -> $answer {
                    match self {
                        Self::Embedded(batch) => batch.$call($($argument),*),
                        Self::Remote(batch) => batch.$call($($argument),*),
                    }
                }
            )*
        }
    };
}

plainly! {
    /// As [`PairBatch::len`].
    fn len(&self) -> usize;
    /// As [`PairBatch::is_empty`].
    fn is_empty(&self) -> bool;
    /// As [`PairBatch::bytes`].
    fn bytes(&self) -> usize;
    /// As [`PairBatch::value`].
    fn value(&self, index: usize) -> &[u8];
    /// As [`PairBatch::version`].
    fn version(&self, index: usize) -> u64;
    /// As [`PairBatch::expires_at_ms`].
    fn expires_at_ms(&self, index: usize) -> u64;
}
