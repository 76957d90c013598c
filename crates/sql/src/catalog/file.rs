//! Files as tables: CSV, JSON, Parquet and Arrow, read by `tonnage-files` as the loader reads them.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::PartitionStream;
use tonnage::{ColumnType, Error, Result, TableSchema};
use tonnage_files::{
    ColumnDefaults, ExtraColumns, Format, ReadOptions, RecordReader, Sample, Source, StopToken,
    infer_common_schema, type_name,
};

use crate::access::folded_field;
use crate::errors::into_datafusion;
use crate::plan::canonicalise_doubles;
use crate::session::SqlOptions;
use crate::text::FileName;

/// Batches that may wait for the reader.
const QUEUED_BATCHES_MAX: usize = 2;

/// The files of one name, with their columns.
#[derive(Clone, Debug)]
pub(crate) struct FileTable {
    sources: Arc<Vec<Source>>,
    format: Option<Format>,
    /// The columns as they are read, under their own names.
    read: SchemaRef,
    /// The same under the names that SQL finds them by.
    arrow: SchemaRef,
    /// What members hold that records of JSON lack.
    defaults: ColumnDefaults,
}

impl FileTable {
    /// Finds files and the types of their columns.
    ///
    /// # Errors
    /// `Unsupported` in a session that is not local; `NotFound` and `Invalid` as the reader says.
    pub(crate) fn open(file: &FileName<'_>, options: &SqlOptions) -> Result<Self> {
        let (sources, format) = find_files(file, options)?;
        let read = ReadOptions { format, ..ReadOptions::default() };
        let inferred = infer_common_schema(&sources, &read, &Sample::default())?;
        let fields = inferred.schema.fields().iter().map(|field| {
            let column_type = ColumnType::of_arrow(field).ok_or_else(|| {
                Error::unsupported(format!(
                    "{}: column '{}' is {}, which no table can hold",
                    file.path,
                    field.name(),
                    type_name(field)
                ))
            })?;
            Ok(column_type.to_arrow(field.name(), true))
        });
        Self::new(sources, format, fields.collect::<Result<Vec<Field>>>()?)
    }

    /// Finds files whose columns are those of a table.
    ///
    /// # Errors
    /// As [`FileTable::open`].
    pub(crate) fn open_for(
        file: &FileName<'_>,
        table: &TableSchema,
        options: &SqlOptions,
    ) -> Result<Self> {
        let (sources, format) = find_files(file, options)?;
        let fields = table.columns.iter().map(|column| column.to_arrow().with_nullable(true));
        let defaults = ColumnDefaults::new(table.default_makers());
        Ok(Self { defaults, ..Self::new(sources, format, fields.collect())? })
    }

    fn new(sources: Vec<Source>, format: Option<Format>, fields: Vec<Field>) -> Result<Self> {
        let arrow = Schema::new(fields.iter().cloned().map(folded_field).collect::<Vec<_>>());
        for (at, field) in arrow.fields().iter().enumerate() {
            if arrow.fields()[..at].iter().any(|before| before.name() == field.name()) {
                return Err(Error::invalid(format!(
                    "{}: two columns are called '{}' without regard to case",
                    sources.first().map_or("", Source::name),
                    field.name()
                )));
            }
        }
        let read = Arc::new(Schema::new(fields));
        let (sources, arrow) = (Arc::new(sources), Arc::new(arrow));
        Ok(Self { sources, format, read, arrow, defaults: ColumnDefaults::default() })
    }

    /// The same with some of the columns.
    pub(crate) fn projected(
        &self,
        columns: &[usize],
    ) -> std::result::Result<Self, DataFusionError> {
        let read = Arc::new(self.read.project(columns)?);
        Ok(Self { read, arrow: Arc::new(self.arrow.project(columns)?), ..self.clone() })
    }

    /// The rows, file after file. A record that cannot be read ends them.
    pub(crate) fn batches(
        &self,
        stop: StopToken,
    ) -> impl Iterator<Item = Result<RecordBatch>> + Send + use<> {
        let options = ReadOptions {
            format: self.format,
            schema: Some(self.read.clone()),
            unmentioned: ExtraColumns::Skip,
            defaults: self.defaults.clone(),
            stop,
            ..ReadOptions::default()
        };
        let (sources, arrow) = (self.sources.clone(), self.arrow.clone());
        let count = sources.len();
        (0..count).flat_map(move |at| batches_of(&sources[at], &options, arrow.clone()))
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.arrow
    }

    /// The names of the columns that the files have, of those that are wanted.
    pub(crate) fn columns_present(&self) -> Result<Vec<String>> {
        let options = ReadOptions {
            format: self.format,
            schema: Some(self.read.clone()),
            unmentioned: ExtraColumns::Keep,
            ..ReadOptions::default()
        };
        let inferred = infer_common_schema(&self.sources, &options, &Sample::default())?;
        Ok(inferred.schema.fields().iter().map(|field| field.name().clone()).collect())
    }
}

fn find_files(file: &FileName<'_>, options: &SqlOptions) -> Result<(Vec<Source>, Option<Format>)> {
    if !options.is_local {
        return Err(Error::unsupported(format!(
            "'{}': a server reads no files of its machine: load them with 'tonnage load', or send them",
            file.path
        )));
    }
    let format = file.format.map(str::parse).transpose()?;
    Ok((Source::expand(&[file.path.to_owned()])?, format))
}

/// The rows of one file, up to the first record that cannot be read.
fn batches_of(
    source: &Source,
    options: &ReadOptions,
    arrow: SchemaRef,
) -> Box<dyn Iterator<Item = Result<RecordBatch>> + Send> {
    // A file is opened when its turn comes, among the batches: only an item can report a failure.
    let reader = match RecordReader::open(source, options) {
        Ok(reader) => reader,
        Err(error) => return Box::new(std::iter::once(Err(error))),
    };
    Box::new(reader.map(move |batch| {
        let batch = batch?;
        // A query that passed a bad record by would give a wrong answer unnoticed.
        if let Some(rejected) = batch.rejected.first() {
            // `RejectedRecord` counts lines from 1 and records from 0; people count both from 1.
            let line = rejected.line.map_or_else(
                || format!("record {}", rejected.record + 1),
                |line| format!("line {line}"),
            );
            let column = rejected.column.as_ref().map(|name| format!(", column '{name}'"));
            return Err(Error::invalid(format!(
                "{}, {line}{}: {}; 'tonnage load' sets such records apart",
                rejected.source,
                column.unwrap_or_default(),
                rejected.reason
            )));
        }
        in_schema_order(&batch.batch, &arrow)
    }))
}

/// The columns of a batch in their order, NULL where the file has none. Nested values that a file
/// writes out come as text.
fn in_schema_order(batch: &RecordBatch, arrow: &SchemaRef) -> Result<RecordBatch> {
    let column = |field: &Arc<Field>| {
        let is_own = |given: &Arc<Field>| given.name().eq_ignore_ascii_case(field.name());
        let Some(at) = batch.schema_ref().fields().iter().position(is_own) else {
            return (field.clone(), new_null_array(field.data_type(), batch.num_rows()));
        };
        let mut array = batch.column(at).clone();
        canonicalise_doubles(&mut array);
        if array.data_type() == field.data_type() {
            return (field.clone(), array);
        }
        let given = batch.schema_ref().field(at).clone();
        (Arc::new(given.with_name(field.name())), array)
    };
    let (fields, arrays): (Vec<_>, Vec<_>) = arrow.fields().iter().map(column).unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|error| Error::internal(format!("the columns of a file: {error}")))
}

impl PartitionStream for FileTable {
    fn schema(&self) -> &SchemaRef {
        &self.arrow
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder =
            RecordBatchReceiverStreamBuilder::new(self.arrow.clone(), QUEUED_BATCHES_MAX);
        let (sender, table) = (builder.tx(), self.clone());
        builder.spawn_blocking(move || {
            let closed = sender.clone();
            for batch in table.batches(StopToken::when(move || closed.is_closed())) {
                if sender.blocking_send(batch.map_err(into_datafusion)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        builder.build()
    }
}

#[async_trait]
impl TableProvider for FileTable {
    fn schema(&self) -> SchemaRef {
        self.arrow.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> std::result::Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let table = match projection {
            Some(columns) => self.projected(columns)?,
            None => self.clone(),
        };
        let rows = StreamingTable::try_new(table.arrow.clone(), vec![Arc::new(table)])?;
        rows.scan(state, None, filters, limit).await
    }
}
