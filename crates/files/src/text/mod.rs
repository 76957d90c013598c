//! Records that are text: CSV, JSON lines, and the elements of a JSON array.
//!
//! 1. [`blocks`] reads about a mebibyte and asks the splitter of the format where its records and
//!    cells are. The splitter ([`csv`], [`json`]) copies nothing: it leaves [`Cell`]s, places in
//!    the block. Records that are broken as such (too few fields, an open quote, no JSON) are set
//!    apart here.
//! 2. [`convert`] turns the cells into Arrow arrays, column by column, and sets apart the records
//!    with a value that does not fit. Blocks do not depend on each other, so this step can run on
//!    several threads ([`reader`]).
//! 3. The block stays with its batch, so that the original text of every row is at hand until the
//!    batch is dropped.

pub(crate) mod block;
pub(crate) mod blocks;
pub(crate) mod convert;
pub(crate) mod csv;
pub(crate) mod decimal;
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
