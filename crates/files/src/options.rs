//! How a source is to be read.

use arrow::datatypes::SchemaRef;

use crate::defaults::ColumnDefaults;
use crate::encoding::Encoding;
use crate::format::Format;
use crate::rename::Renames;
use crate::stop_token::StopToken;

/// How a source is to be read; the default reads any file as it describes itself.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format, when the name and the content are not to decide.
    pub format: Option<Format>,
    /// The columns the caller wants, matched by name without regard to case. A column of the file
    /// that is found here takes this spelling, this type and this metadata; a value that cannot be
    /// turned into the type rejects its record.
    pub schema: Option<SchemaRef>,
    /// What JSON objects hold of columns of `schema` that they do not name; NULL without it.
    pub defaults: ColumnDefaults,
    /// What becomes of columns of the file that `schema` does not mention.
    pub unmentioned: ExtraColumns,
    /// The most rows in one batch.
    pub batch_rows: usize,
    /// The most bytes that one record of text may have; a longer one is rejected.
    pub record_bytes_max: usize,
    /// The most bytes that one batch of packed Arrow IPC may have once unpacked.
    pub unpacked_bytes_max: u64,
    /// The number of the first record to deliver, for taking up an interrupted load.
    pub start_record: u64,
    /// Threads that convert text side by side; with 1 the calling thread does it.
    pub parallelism: usize,
    /// What only CSV needs to know.
    pub csv: CsvOptions,
    /// Whether each JSON object is to be one document in one column, rather than a row of its
    /// members.
    pub documents: Option<DocumentOptions>,
    /// The names that lead to the array of records in a file that is one JSON object; none: the
    /// file is the records.
    pub records: Vec<String>,
    /// New names for columns of the file, before they are matched with `schema`.
    pub renames: Renames,
    /// Whether the folders in the path of a file tell columns: `country=FR/year=2022/a.csv` has
    /// `country` and `year`.
    pub folders: bool,
    /// What text is written in; unset: UTF-8, or UTF-16 where a mark at its beginning says so.
    pub encoding: Option<Encoding>,
    /// Ends the wait for a pipe that gives nothing.
    pub stop: StopToken,
}

/// How JSON documents become rows: each unchanged in one column, beside columns that are taken out
/// of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentOptions {
    /// The column that takes the documents.
    pub column: String,
    /// The JSON paths of other columns: the member names that lead there. A column of
    /// [`ReadOptions::schema`] without a path is the member of its own name, in any case.
    pub paths: Vec<(String, Vec<String>)>,
    /// A column of generated keys, for documents that have none of their own: random UUIDs, or in
    /// a column of whole numbers the number of each record in its file.
    pub generated_key: Option<String>,
}

/// What becomes of columns that the wanted schema does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExtraColumns {
    /// They are delivered too: text from CSV, inferred from JSON, as they are from Parquet and
    /// Arrow.
    #[default]
    Keep,
    /// They are left out, and Parquet does not even read them.
    Skip,
}

/// What only CSV needs to know.
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// The byte between fields; unset: a tab for `.tsv` and [`Format::Tsv`], else a comma.
    pub delimiter: Option<u8>,
    /// The byte around fields that hold delimiters or line ends; unset: none, so that quotes are
    /// characters as any other.
    pub quote: Option<u8>,
    /// The byte that makes a following delimiter, quote, line end or itself a plain character, such
    /// as a backslash. In front of anything else it is a plain character. Doubled quotes mean a
    /// quote always.
    pub escape: Option<u8>,
    /// Lines, or rows of a sheet, above the header or the first record that are not records.
    pub skip_lines: u32,
    /// Whether a blank line of a file of one column is a record, of an empty value. Otherwise, and
    /// in files of more columns, it is passed over.
    pub blank_is_null: bool,
    /// Whether the first record names the columns.
    pub has_header: bool,
    /// The names of the columns where no header does; unset: those of `schema`, else `column_1`,
    /// `column_2` and so on.
    pub columns: Option<Vec<String>>,
    /// The unquoted texts that mean NULL.
    pub nulls: Vec<String>,
}

impl ReadOptions {
    /// The byte between the fields of a CSV file of this name.
    pub(crate) fn delimiter_of(&self, name: &str) -> u8 {
        let has_tabs = [self.format, Format::of_name(name)].contains(&Some(Format::Tsv));
        self.csv.delimiter.unwrap_or(if has_tabs { b'\t' } else { b',' })
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            schema: None,
            defaults: ColumnDefaults::default(),
            unmentioned: ExtraColumns::default(),
            batch_rows: 16_384,
            record_bytes_max: 16 << 20,
            unpacked_bytes_max: u64::MAX,
            start_record: 0,
            parallelism: 1,
            csv: CsvOptions::default(),
            documents: None,
            records: Vec::new(),
            renames: Renames::default(),
            folders: false,
            encoding: None,
            stop: StopToken::default(),
        }
    }
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            quote: Some(b'"'),
            escape: None,
            skip_lines: 0,
            blank_is_null: true,
            has_header: true,
            columns: None,
            nulls: vec![String::new()],
        }
    }
}

/// How much of the files is looked at to find the types of their columns. Further records must fit
/// what these say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Records of each file.
    pub records: usize,
    /// Bytes of each file of text, unpacked.
    pub bytes: usize,
    /// Files.
    pub sources: usize,
}

impl Sample {
    /// Everything, however long that takes.
    pub const ALL: Sample = Sample { records: usize::MAX, bytes: usize::MAX, sources: usize::MAX };
}

impl Default for Sample {
    /// 100,000 records and 16 MiB of each of the first eight files.
    fn default() -> Self {
        Sample { records: 100_000, bytes: 16 << 20, sources: 8 }
    }
}
