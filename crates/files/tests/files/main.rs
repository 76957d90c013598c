//! Records from files of every kind, and back: what is read, what is refused, and its position.

mod archives;
mod arrow_columns;
mod avro;
mod common;
mod csv_records;
mod differing_types;
mod documents;
mod foreign_files;
mod garbage;
mod inference;
mod json_records;
mod parquet_types;
#[cfg(unix)]
mod pipes;
mod real_data;
mod remote;
mod renames;
mod round_trip;
mod sources;
mod wanted_types;
