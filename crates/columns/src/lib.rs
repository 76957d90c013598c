//! Columns of rows as bytes, and back: Arrow arrays in, Arrow arrays out. It knows no store.
//!
//! 1. A *chunk* is one column of a segment: a header, validity bits unless all are set, and data.
//!    A checksum covers all of it, with the id of the segment and the column.
//! 2. Whole numbers, dates, times, booleans, and decimals that fit 64 bits: blocks of 1,024 values,
//!    each its least value and the bits that the others need (`integers`). Equal values need none.
//!    The heads of the blocks bound their values: these are the zones.
//! 3. Doubles: the power of ten by which nearly all of them are whole, with a list of exceptions,
//!    and then as 2; plain where there is none (`doubles`).
//! 4. Texts, binary values and wide decimals: a dictionary of up to 65,536 short values, with codes
//!    as 2; else lengths as 2, and bytes by LZ4, 8,192 rows a piece (`texts`).
//! 5. Other types come as the bytes of their cells: their callers make arrays of these.
//! 6. Nothing that is read is trusted: lengths are checked before memory is taken for them.

#![warn(missing_debug_implementations)]

mod batch;
mod chunk;
mod cursor;
mod doubles;
mod integers;
mod physical;
mod texts;

pub use batch::BATCH_ROWS;
pub use chunk::{Chunk, ChunkId, ROWS_MAX, encode, seal};
pub use physical::bounds_of;
