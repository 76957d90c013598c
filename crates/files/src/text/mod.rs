//! Records that are text: CSV, JSON lines, and the elements of a JSON array.
//!
//! 1. [`block_reader`] reads about a mebibyte, and the splitter of the format finds its records and
//!    cells. The splitter ([`csv`], [`json`]) copies nothing: it makes [`Cell`]s, which are
//!    positions in the block. It sets apart broken records (too few fields, an open quote, no
//!    JSON).
//! 2. [`convert`] turns the cells into Arrow arrays, column by column, and sets apart the records
//!    with a value that does not fit. Blocks do not depend on each other, so several threads
//!    convert ([`reader`]).
//! 3. The block stays with its batch, so the original text of every row is available until the
//!    batch is dropped.

pub(crate) mod block;
pub(crate) mod block_reader;
pub(crate) mod convert;
pub(crate) mod csv;
pub(crate) mod decimal;
pub(crate) mod dialect;
pub(crate) mod document;
mod generated_key;
pub(crate) mod json;
pub(crate) mod json_array;
pub(crate) mod json_check;
pub(crate) mod json_detect;
pub(crate) mod json_sample;
pub(crate) mod json_scan;
pub(crate) mod json_shape;
pub(crate) mod layout;
pub(crate) mod reader;
pub(crate) mod scalar;
pub(crate) mod time_of_day;
pub(crate) mod timestamp;
