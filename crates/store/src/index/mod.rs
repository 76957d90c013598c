//! Secondary indexes: rows by the values of their columns.
//!
//! **An index never misses a row, and may name rows that no longer match: the reader checks.** Everything follows from that:
//!
//! - An index is a placed space: its entries (`codec`) lie in the shards of their rows, so a write stores both in one batch
//!   (`write`), and a load stores entries before rows.
//! - A load need not know what it replaces: old entries stay and are *stale*. A row that expires leaves one too. They can be taken out when no
//!   load is open (`clean`).
//! - Building over existing rows needs no lock (`build`): writers keep the index up from the first moment.
//! - Who reads (`reading`) looks every row up and makes its entry anew: the row counts only if that is the entry that led to it.

mod build;
mod check;
mod clean;
mod codec;
mod definition;
mod estimate;
mod gate;
mod handle;
mod json;
mod list;
mod options;
mod parts;
mod reading;
mod walk;
mod write;

pub use build::{CreateIndexOptions, IndexProgress};
pub(crate) use build::{create_index, drop_index};
pub(crate) use check::check_index;
pub(crate) use codec::IndexCodec;
pub use definition::{INDEX_COLUMNS_MAX, INDEXES_MAX, IndexColumn, IndexDefinition};
pub(crate) use definition::{IndexState, StoredIndex};
pub(crate) use gate::{OpenLoad, Pushing, WriteGate};
pub use handle::Index;
pub(crate) use list::{IndexList, IndexSet, OpenIndex};
pub use options::{IndexRange, IndexScanOptions};
pub use reading::IndexRows;
