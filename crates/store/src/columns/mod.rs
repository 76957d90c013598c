//! Columns of rows, kept while they are written: what SQL scans instead of rows.
//!
//! A row store pays for each row that a scan reads: RocksDB finds it, the codec takes it apart.
//! *Segments* ([`segment`]) are immutable copies of some columns of the rows in a range of keys. The
//! engine knows which keys of each range were written since (`tonnage_engine::Snapshot`).
//!
//! 1. A statement takes a snapshot of the store ([`column_snapshot`]). All of its scans read there.
//! 2. A scan takes the ranges of its space from the snapshot. Each is a part of its own
//!    ([`column_part`]).
//! 3. A range with a segment that has the columns: its state is brought up to the snapshot
//!    ([`catch_up`]). Then come the living rows of the segment, and those of the *delta*: rows that
//!    were written since, as they are stored.
//! 4. Any other range is read from the store at the snapshot ([`store_rows`]). If the space was
//!    scanned before, segments are built of what is read ([`segment_builder`]), and their ranges
//!    tracked.
//! 5. Segments and deltas are bounded in bytes ([`live_columns`]). They are in memory alone.
//!
//! Rows that expire have their time in the segment, and a scan leaves out those that have expired
//! when it begins. Child tables share the ranges of their top-level table; a segment has all tables
//! that were scanned. Columns go by their numbers, so ALTER TABLE leaves segments as they are.

mod catch_up;
pub(crate) mod column_part;
mod column_range;
pub(crate) mod column_scan;
mod column_snapshot;
mod column_statistics;
pub(crate) mod column_table;
mod key_list;
pub(crate) mod live_columns;
mod overlay;
mod row_set;
mod row_source;
mod segment;
mod segment_builder;
mod segment_rows;
mod store_rows;
mod table_segment;

pub use column_part::ColumnPart;
pub use column_range::ColumnRange;
pub use column_snapshot::ColumnSnapshot;
pub use column_statistics::ColumnStatistics;
pub use row_source::RowSource;
