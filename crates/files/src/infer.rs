//! The schema that a file suggests.

use arrow::datatypes::Schema;
use tonnage_engine::{Error, Result};

use crate::options::ReadOptions;
use crate::source::Source;

/// The schema that the first `sample_records` records (or 16 MiB) of a source suggest.
pub fn infer_schema(source: &Source, options: &ReadOptions, sample_records: usize) -> Result<Schema> {
    let _ = (options, sample_records);
    Err(Error::unsupported(format!("{}: inferring is not built yet", source.name())))
}
