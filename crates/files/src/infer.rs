//! Infers a schema from a sample of the records of files.
//!
//! - Text: every value of the sample narrows the possible types of its column ([`TypeGuess`]). The
//!   table in `type_guess` gives the result.
//! - Parquet, Arrow and Avro files declare their types. Structs, lists and maps that a table has no
//!   type for become JSON.

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use tonnage_engine::{Error, Result};

use crate::Format;
use crate::avro_types::is_big_decimal;
use crate::folders::columns_in;
use crate::foreign_format;
use crate::inferred_column::{InferredColumn, NullWords, Outlier};
use crate::input::Input;
use crate::options::{ExtraColumns, ReadOptions, Sample};
use crate::other_forms::OtherForm;
use crate::reader::RecordReader;
use crate::source::Source;
use crate::text::block::{Cell, CellKind, UNCACHED_FORMULA};
use crate::text::block_reader::BlockReader;
use crate::text::json_sample::JsonColumns;
use crate::text::reader::{no_documents, open_csv};
use crate::type_guess::{TypeGuess, json_field, reads_as_value};
use crate::type_name::is_variant_field;
use crate::value_kinds::ValuePlace;

/// What files suggest.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredSchema {
    /// The columns of all files together. All of them may be NULL.
    pub schema: Schema,
    /// The records that were looked at; of Parquet and Arrow files, which say what they hold, none.
    pub records: u64,
    /// Further records, of CSV, that could not be read.
    pub rejected: u64,
    /// Whether that is all there is: only then does every record fit for certain.
    pub is_whole: bool,
    /// Whether the types come from values: Parquet and Arrow files say what they hold.
    pub is_guessed: bool,
    /// Columns that became text because of words that seem to mean NULL.
    pub null_words: Vec<NullWords>,
    /// Columns of CSV that became text because of a few values.
    pub outliers: Vec<Outlier>,
    /// Columns of CSV that became text because their dates or numbers have another form.
    pub other_forms: Vec<OtherForm>,
    /// Names in headers of CSV that read as values: the first line may be a record.
    pub header_values: Vec<String>,
    /// Whether the headers of CSV have no other names.
    pub has_only_values: bool,
    /// The position of an array of objects in a file that is one JSON object, see
    /// [`ReadOptions::records`].
    pub records_at: Option<String>,
}

/// The schema that the first `sample_records` records of a source suggest, of text at most the
/// first 16 MiB of it.
///
/// [`ReadOptions::schema`] is not consulted. Broken records are passed over. All columns may be
/// NULL. A source that fails in the middle of the sample suggests what the records before suggest:
/// who reads it comes to the failure. A source without records suggests nothing.
pub fn infer_schema(
    source: &Source,
    options: &ReadOptions,
    sample_records: usize,
) -> Result<Schema> {
    let found =
        infer_source(source, options, &Sample { records: sample_records, ..Sample::default() })?;
    Ok(Schema::new(
        found.columns.iter().map(|(name, column)| column.field(name)).collect::<Vec<_>>(),
    ))
}

/// The schema that takes the records of all sources.
///
/// # Errors
/// Those of [`infer_schema`], and [`Invalid`](tonnage_engine::ErrorKind::Invalid) if no source has
/// a column, with the reason.
pub fn infer_common_schema(
    sources: &[Source],
    options: &ReadOptions,
    sample: &Sample,
) -> Result<InferredSchema> {
    let mut columns: Vec<(String, InferredColumn)> = Vec::new();
    let mut is_guessed = false;
    let (mut records, mut rejected, mut is_whole) = (0, 0, sources.len() <= sample.sources);
    let (mut trouble, mut records_at) = (None, None);
    let mut header_values: Vec<String> = Vec::new();
    for source in sources.iter().take(sample.sources) {
        let found = infer_source(source, options, sample)?;
        records += found.records;
        rejected += found.rejected;
        is_whole &= found.is_whole;
        is_guessed |= found.is_guessed;
        trouble = trouble.or(found.trouble.map(|trouble| format!("{}: {trouble}", source.name())));
        records_at = records_at.or(found.records_at);
        for name in found.header_values {
            if !header_values.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
                header_values.push(name);
            }
        }
        for (name, column) in found.columns {
            match columns.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                Some((name, known)) => known.merge(name, &column),
                None => columns.push((name, column)),
            }
        }
    }
    for (name, column) in &mut columns {
        if let Some(clash) = column.clash() {
            let sources = &sources[..sources.len().min(sample.sources)];
            let (values, sees_all) = sample_values(sources, name, options, sample)?;
            *column = InferredColumn::decided(clash, name, values);
            is_whole &= sees_all;
        }
    }
    // Asked before the folders tell columns: those have names always.
    let has_only_values = !header_values.is_empty() && header_values.len() == columns.len();
    // After the columns of the files, as the reader puts them.
    for (name, guess) in folder_columns(sources, options) {
        match columns.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((name, known)) => known.merge(name, &guess),
            None => columns.push((name, guess)),
        }
    }
    // One source with columns is enough: only without any does the trouble of a source matter.
    if columns.is_empty() {
        return Err(Error::invalid(
            trouble.unwrap_or_else(|| "there is no file to make columns from".to_owned()),
        ));
    }
    let fields: Vec<_> = columns.iter().map(|(name, column)| column.field(name)).collect();
    let null_words = columns.iter().filter_map(|(name, column)| column.null_words(name)).collect();
    let outliers = columns.iter().filter_map(|(name, column)| column.outlier(name)).collect();
    let other_forms = columns.iter().filter_map(|(name, column)| column.other_form(name)).collect();
    Ok(InferredSchema {
        schema: Schema::new(fields),
        records,
        rejected,
        is_whole,
        is_guessed,
        null_words,
        outliers,
        other_forms,
        header_values,
        has_only_values,
        records_at,
    })
}

/// What the values of a column are, whose types differ from file to file; and whether all were
/// seen.
fn sample_values(
    sources: &[Source],
    name: &str,
    options: &ReadOptions,
    sample: &Sample,
) -> Result<(TypeGuess, bool)> {
    let (mut guess, mut sees_all) = (TypeGuess::default(), true);
    // As text, which every type that may clash becomes without loss.
    let wanted = Schema::new(vec![Field::new(name, DataType::Utf8, true)]);
    let options = ReadOptions {
        schema: Some(wanted.into()),
        unmentioned: ExtraColumns::Skip,
        start_record: 0,
        parallelism: 1,
        folders: false,
        ..options.clone()
    };
    for source in sources {
        let mut records = 0;
        let input = Input::peek(source, &options)?;
        for batch in RecordReader::of(source, input, &options)? {
            // The reader of the records reports damage.
            let Ok(batch) = batch else { break };
            let column = batch.batch.columns().first();
            let texts = column.and_then(|column| column.as_string_opt::<i32>());
            for text in texts.into_iter().flatten().flatten() {
                guess.observe(Cell::new(0, text.len(), CellKind::Plain), text.as_bytes());
            }
            records += batch.batch.num_rows();
            if records >= sample.records {
                sees_all = false;
                break;
            }
        }
    }
    Ok((guess, sees_all))
}

/// The columns that the folders of all sources tell.
fn folder_columns(sources: &[Source], options: &ReadOptions) -> Vec<(String, InferredColumn)> {
    let mut found: Vec<(String, TypeGuess)> = Vec::new();
    for source in sources.iter().filter(|_| options.folders) {
        for (name, value) in columns_in(source.name(), &options.renames) {
            let mut guess = TypeGuess::default();
            if let Some(value) = &value {
                guess.observe(Cell::new(0, value.len(), CellKind::Quoted), value.as_bytes());
            }
            match found.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                Some((_, known)) => known.merge(&guess),
                None => found.push((name, guess)),
            }
        }
    }
    found
        .into_iter()
        .map(|(name, guess)| (name, InferredColumn::Guessed(Box::new(guess))))
        .collect()
}

/// What one source suggests.
#[derive(Default)]
struct SourceColumns {
    columns: Vec<(String, InferredColumn)>,
    records: u64,
    rejected: u64,
    is_whole: bool,
    is_guessed: bool,
    header_values: Vec<String>,
    /// Why there are no columns.
    trouble: Option<String>,
    records_at: Option<String>,
}

fn infer_source(source: &Source, options: &ReadOptions, sample: &Sample) -> Result<SourceColumns> {
    // What is wanted must not color what is found, and folders are added once for all sources.
    let options = ReadOptions {
        schema: None,
        start_record: 0,
        parallelism: 1,
        folders: false,
        ..options.clone()
    };
    // Only looked at: the bytes of a pipe are left for the reader.
    let input = Input::peek(source, &options)?;
    input.check(source)?;
    let options = input.options(&options).into_owned();
    let (format, is_empty) = (input.format(source, options.format), input.head.is_empty());
    let mut found = match format {
        format if format != Format::JsonLines && options.documents.is_some() => {
            return Err(no_documents(source, format));
        }
        Format::Csv => infer_csv(source, input, &options, sample)?,
        Format::JsonLines => infer_json(source, input, &options, sample)?,
        _ => {
            let schema = RecordReader::of(source, input, &options)?.schema();
            let told = |field: &FieldRef| {
                (field.name().clone(), InferredColumn::Declared(storable(field)))
            };
            let trouble =
                schema.fields().is_empty().then(|| "its records have no fields".to_owned());
            SourceColumns {
                columns: schema.fields().iter().map(told).collect(),
                is_whole: true,
                trouble,
                ..SourceColumns::default()
            }
        }
    };
    if is_empty {
        found.trouble = Some("it is empty: there is nothing to make columns from".to_owned());
    }
    Ok(found)
}

/// A NUMBER as a table has it where nothing more is said.
const BIG_DECIMAL_AS: DataType = DataType::Decimal128(38, 9);

/// The field of a Parquet or Arrow file as a table can keep it.
fn storable(field: &FieldRef) -> Field {
    let data_type = field.data_type();
    // Its numbers come as text, since each has a scale of its own.
    if is_big_decimal(field) {
        return Field::new(field.name(), BIG_DECIMAL_AS, true);
    }
    // Not JSON: the caller refuses it, or leaves it out.
    if is_variant_field(field) {
        return field.as_ref().clone();
    }
    match data_type.is_nested() && !is_storable(data_type) {
        true => json_field(field.name()),
        false => field.as_ref().clone(),
    }
}

/// Whether a nested type has a type of columns of its own; others become JSON.
fn is_storable(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => is_storable(item.data_type()),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                fields.len() == 2
                    && fields[0].data_type() == &DataType::Utf8
                    && is_storable(fields[1].data_type())
            }
            _ => false,
        },
        DataType::Struct(fields) => {
            !fields.is_empty() && fields.iter().all(|field| is_storable(field.data_type()))
        }
        DataType::Dictionary(_, values) => is_storable(values),
        DataType::RunEndEncoded(_, values) => is_storable(values.data_type()),
        nested => !nested.is_nested(),
    }
}

fn infer_csv(
    source: &Source,
    input: Input,
    options: &ReadOptions,
    sample: &Sample,
) -> Result<SourceColumns> {
    let mut blocks = BlockReader::of(source, input, options)?;
    let (mut splitter, columns, layout) = open_csv(source, &mut blocks, options)?;
    let mut guesses = vec![TypeGuess::default(); columns];
    let (mut records, mut rejected, mut bytes, mut is_whole) = (0, 0, 0, false);
    while records < sample.records && bytes < sample.bytes {
        let block = match blocks.next(&mut splitter, columns) {
            Ok(Some(block)) => block,
            Ok(None) => {
                is_whole = true;
                break;
            }
            // After good records a failure only ends the sample: the reader meets and reports it.
            Err(error) if records == 0 => return Err(error),
            Err(_) => break,
        };
        let rows = block.spans.len().min(sample.records - records);
        for (cells, span) in block.cells.chunks(columns).zip(&block.spans).take(rows) {
            let line = block.first_line + u64::from(span.line);
            for (guess, cell) in guesses.iter_mut().zip(cells) {
                let text = cell.bytes(&block.bytes);
                let is_null = cell.kind() == CellKind::Plain
                    && options.csv.nulls.iter().any(|null| null.as_bytes() == text);
                // What will be NULL says nothing of a type.
                if !is_null && !text.is_empty() && text != UNCACHED_FORMULA {
                    guess.observe_at(*cell, text, || ValuePlace::new(source.name(), line, text));
                }
            }
        }
        records += rows;
        rejected += block.faults.len() as u64;
        bytes += block.bytes.len();
    }
    let names = layout.schema.fields().iter().map(|field| field.name());
    let is_value = |name: &&String| options.csv.has_header && reads_as_value(name);
    let header_values = names.filter(is_value).cloned().collect();
    let fields = layout.schema.fields().iter().zip(guesses);
    let columns: Vec<_> = fields
        .map(|(field, guess)| (field.name().clone(), InferredColumn::Guessed(Box::new(guess))))
        .collect();
    let behind = match options.csv.skip_lines {
        0 => String::new(),
        lines => format!(" after the {lines} that are skipped"),
    };
    let trouble = columns.is_empty().then(|| {
        format!("it has no lines but blank ones{behind}: there is nothing to make columns from")
    });
    Ok(SourceColumns {
        columns,
        trouble,
        records: records as u64,
        rejected,
        is_whole,
        is_guessed: true,
        header_values,
        ..SourceColumns::default()
    })
}

fn infer_json(
    source: &Source,
    input: Input,
    options: &ReadOptions,
    sample: &Sample,
) -> Result<SourceColumns> {
    // The blocks take the input, and without columns its beginning explains why.
    let head = input.head.clone();
    let mut blocks = BlockReader::of(source, input, options)?;
    let mut members = JsonColumns::of(options);
    let seen = members.sample_source(source, &mut blocks, options, sample)?;
    let columns = members.into_columns();
    // After good records the failure is left to the reader.
    if columns.is_empty()
        && let Some(error) = blocks.take_failure()
    {
        return Err(error);
    }
    let trouble = columns.is_empty().then(|| foreign_format::why_no_objects(&head));
    Ok(SourceColumns {
        columns,
        records: seen.records,
        is_whole: seen.is_whole,
        is_guessed: true,
        trouble,
        records_at: seen.records_at,
        ..SourceColumns::default()
    })
}
