//! Files in and out: CSV, JSON lines, Parquet and Arrow IPC, plain or compressed, as Arrow record
//! batches. Avro containers, zip archives and Excel workbooks are read as well, and so are files
//! over HTTP and in object storage.
//!
//! Reading:
//!
//! 1. [`Source::expand`] turns names, globs, URLs and `-` into [`Source`]s. A pipe is opened once:
//!    who looks at it before it is read ([`infer_schema`]) leaves its bytes in place.
//! 2. [`RecordReader::open`] finds out what a source holds (compression by its magic bytes, the
//!    format by name and then by content) and matches its columns with those the caller wants
//!    ([`ReadOptions::schema`]).
//! 3. The reader is an iterator of [`ReadBatch`]es. A record that cannot be read is set apart as a
//!    [`RejectedRecord`] with its position, its reason and its original text; the records around it
//!    are delivered. Only what ends the file (a truncated archive, an unreadable disk) is an error,
//!    and it comes after all records that precede it.
//! 4. JSON is one object per line, objects over several lines one after another, one array of
//!    objects, or a document with such an array in it ([`ReadOptions::records`]). Its members
//!    become columns, or, with [`ReadOptions::documents`], each object stays whole in one column,
//!    beside columns that are taken out of it.
//! 5. When a later stage refuses row `i` of a batch, [`ReadBatch::reject`] still knows the origin
//!    of the row.
//!
//! Writing: [`RecordWriter`] takes batches and writes them in any of the formats; what it wrote
//! reads back as the same rows.
//!
//! Inside, both text formats go one way: a splitter cuts blocks of bytes into records and cells
//! without copying them, and a converter turns one column of cells at a time into an Arrow array.
//!
//! ```
//! use tonnage_files::{Compression, Format, ReadOptions, RecordReader, RecordWriter, Source,
//! infer_schema};
//!
//! let source = Source::memory("ships.csv", *b"MMSI,LAT\n338148873,33.6\nnobody,0\n");
//! let schema = infer_schema(&source, &ReadOptions::default(), 1)?;
//! let options = ReadOptions { schema: Some(schema.into()), ..ReadOptions::default() };
//!
//! let reader = RecordReader::open(&source, &options)?;
//! let mut writer = RecordWriter::new(Format::JsonLines, Vec::new(), reader.schema(),
//! Compression::None)?; for batch in reader {
//!     let batch = batch?;
//!     writer.write(&batch.batch)?;
//!     assert_eq!(batch.rejected[0].line, Some(3));
//!     assert_eq!(batch.rejected[0].reason, "`nobody` is not a whole number");
//! }
//! assert_eq!(writer.finish()?, b"{\"MMSI\":338148873,\"LAT\":33.6}\n");
//! # Ok::<(), tonnage_engine::Error>(())
//! ```

mod archive;
mod arrow_file;
mod arrow_stream;
mod avro;
mod avro_number;
mod avro_types;
mod batch;
mod batch_cast;
mod cast;
mod cast_nested;
mod cast_text;
mod cast_values;
mod catch_panic;
mod columnar;
mod defaults;
mod encoding;
mod folders;
mod foreign_format;
mod format;
mod gzip;
mod infer;
mod inferred_column;
mod input;
mod ipc_guard;
mod nested;
mod nested_part;
mod options;
mod other_forms;
mod parquet_in;
mod percent;
mod pipe;
mod progress;
mod raw_values;
mod readahead;
mod reader;
mod rejected;
mod remote;
mod rename;
mod render;
mod source;
mod spans;
mod stop_token;
mod text;
mod type_guess;
mod type_name;
mod value_kinds;
mod wider_type;
mod writer;

pub use arrow_stream::read_ipc_stream;
pub use batch::{Original, ReadBatch};
pub use batch_cast::BatchCast;
pub use defaults::{ColumnDefaults, MakeDefaults};
pub use encoding::Encoding;
pub use folders::{FOLDER_OF_NULL, column_folders, folder_column_names};
pub use format::{Compression, Format};
pub use infer::{InferredSchema, infer_common_schema, infer_schema};
pub use inferred_column::{NullWords, Outlier};
pub use ipc_guard::check_ipc_message;
pub use options::{CsvOptions, DocumentOptions, ExtraColumns, ReadOptions, Sample};
pub use other_forms::{FormMeaning, OtherForm};
pub use progress::Progress;
pub use reader::RecordReader;
pub use rejected::RejectedRecord;
pub use rename::Renames;
pub use source::Source;
pub use spans::spans_as_intervals;
pub use stop_token::StopToken;
pub use type_name::{is_variant_field, type_name};
pub use writer::RecordWriter;

/// The key in a field's metadata that names a type which Arrow has no type for: Arrow's own key for
/// extension types, so that the schemas of tables say the same.
pub const TYPE_KEY: &str = "ARROW:extension:name";

/// The value of [`TYPE_KEY`] for a text column that holds JSON.
pub const TYPE_JSON: &str = "arrow.json";
/// The value of [`TYPE_KEY`] for a column of 16 bytes that are not a UUID.
pub const TYPE_BINARY: &str = "tonnage.binary";
