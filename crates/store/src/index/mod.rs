//! Secondary indexes: rows by the values of their columns.
//!
//! **An index never misses a row, and may name rows that no longer match: the reader checks.**
//! Everything follows from that:
//!
//! - A row has one entry, or a set of them where the index is on parts of arrays or maps
//!   (`elements`). All of them are written, compared and removed together.
//! - An index is a shard-prefixed space: its entries (`codec`) lie in the shards of their rows. So
//!   a write stores both in one batch (`write`), and a load stores entries before rows. (For a scan
//!   that continues while its row changes, see the last point.)
//! - A load need not know what it replaces: old entries stay and are *stale*. A row that expires
//!   leaves one too. `clean` removes them on request, and `background_cleaner` where there are
//!   many.
//! - Building over existing rows needs no lock (`build`): writers keep the index up from the start.
//! - A reader (`lookup`) looks up every row and makes its entry anew: the row counts only if that
//!   is the entry that led to it. It skips the check only where no entry can be stale (`columns`).
//! - A scan is read-committed, entry by entry, and no snapshot. A row whose indexed columns change
//!   while the scan runs moves within the index: it may be missed or come twice, although it
//!   matched before and after. Sums and counts over an index are off by such rows. Where that
//!   matters ask for each row exactly once ([`IndexScanOptions::exactly_once`]): then the table is
//!   read, whose rows do not move.

mod background_cleaner;
mod build;
mod cell_marker;
mod check;
mod clean;
mod clean_marks;
mod codec;
mod columns;
mod definition;
#[cfg(test)]
mod dropped_tests;
mod elements;
mod entries;
mod estimate;
mod function;
mod geo_cells;
mod handle;
mod json;
mod late_writes;
mod list;
mod lookup;
mod nearest;
mod node;
mod options;
mod path_step;
mod path_walks;
mod places;
mod row_entries;
mod scan;
mod within;
mod write;
mod write_gate;

pub(crate) use background_cleaner::BackgroundCleaner;
pub use build::{CreateIndexOptions, IndexProgress};
pub(crate) use build::{create_index, drop_index};
pub(crate) use check::{IndexFindings, check_index};
pub use clean::IndexCleanReport;
pub(crate) use codec::IndexCodec;
pub(crate) use definition::INDEXES_MAX;
pub use definition::{GeoCells, IndexColumn, IndexDefinition};
pub(crate) use definition::{IndexState, StoredColumn, StoredIndex};
pub use function::{IndexArgument, IndexFunction, IndexFunctionName};
pub use handle::Index;
pub(crate) use list::{IndexList, IndexSet, OpenIndex};
pub use lookup::IndexRows;
pub use nearest::{NearbyRows, RowsByDistance};
pub use options::{IndexRange, IndexScanOptions};
pub use path_step::{PathParts, PathStep};
pub use within::RowsWithin;
pub(crate) use write_gate::{OpenLoad, Pushing, WriteGate};
