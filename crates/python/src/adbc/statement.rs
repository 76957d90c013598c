//! A statement: its text or its target table, the rows bound to it, and its answer.

use std::sync::{Arc, Mutex};

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::{IngestMode, OptionStatement, OptionValue};
use adbc_core::{CancelHandle, Optionable, PartitionedResult, Statement};
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::Schema;
use tonnage::internal::sync::lock;
use tonnage::{Cancel, OnExisting};
use tonnage_sql::{Answer, Changes, Parameters, Prepared, Request, Sql};

use super::error::{OrStatus, internal, invalid, invalid_state, not_found, not_offered};
use super::ingest::{IngestOptions, ON_EXISTING, PRIMARY_KEY};
use super::objects::CATALOG;
use super::options::{text, truth};
use super::reader::{BatchReader, BoxedReader, empty_reader, single_batch_reader};

/// A statement.
pub(crate) struct TonnageStatement {
    sql: Sql,
    text: Option<String>,
    prepared: Option<Prepared>,
    bound: Option<Box<dyn RecordBatchReader + Send>>,
    ingest: IngestOptions,
    running: CancelSlot,
}

/// What stops the statement that runs.
#[derive(Clone, Default)]
struct CancelSlot(Arc<Mutex<Cancel>>);

impl CancelSlot {
    fn begin(&self) -> Cancel {
        let cancel = Cancel::new();
        *lock(&self.0) = cancel.clone();
        cancel
    }
}

impl CancelHandle for CancelSlot {
    fn try_cancel(&self) -> Result<()> {
        lock(&self.0).cancel();
        Ok(())
    }
}

impl TonnageStatement {
    pub(super) fn new(sql: Sql) -> Self {
        Self {
            sql,
            text: None,
            prepared: None,
            bound: None,
            ingest: IngestOptions::default(),
            running: CancelSlot::default(),
        }
    }

    fn text(&self) -> Result<&str> {
        self.text.as_deref().ok_or_else(|| invalid_state("the statement has no text yet"))
    }

    fn prepared(&mut self) -> Result<Prepared> {
        if self.prepared.is_none() {
            self.prepared = Some(self.sql.prepare(self.text()?).or_status()?);
        }
        self.prepared.clone().ok_or_else(|| invalid_state("the statement is not prepared"))
    }

    fn run(&mut self) -> Result<StatementResult> {
        let cancel = self.running.begin();
        if self.ingest.table.is_some() {
            // What is bound is taken: a stream can be read only once.
            let rows = self.bound.take();
            let rows =
                rows.ok_or_else(|| invalid_state("there are no rows to ingest: bind them"))?;
            // ADBC's suite expects this status, but a conflict of the store would become Integrity.
            if let Some(obstacle) = self.ingest.obstacle(self.sql.store(), &rows.schema()) {
                return Err(Error::with_message_and_status(obstacle, Status::AlreadyExists));
            }
            let taken = self.ingest.run(self.sql.store(), rows, &cancel).or_status()?;
            return Ok(StatementResult::Changed(taken));
        }
        let Some(bound) = self.bound.take() else {
            let answer = match &self.prepared {
                Some(prepared) => prepared.execute_request(&Request::default().cancel(&cancel)),
                None => self.sql.execute(Request::new(self.text()?).cancel(&cancel)),
            };
            return Ok(StatementResult::of(answer.or_status()?));
        };
        let rows: Vec<RecordBatch> = bound
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| invalid(format!("what is bound cannot be read: {error}")))?;
        let prepared = self.prepared()?;
        let request = Request::default().cancel(&cancel);
        // A change takes each batch whole, hundreds of rows at a time; a query answers row by row.
        match prepared.describe(&Parameters::default()).or_status()?.rows {
            Some(_) => each_bound(&prepared, &rows, &request),
            None => {
                let mut changes = Changes::default();
                for batch in &rows {
                    let more = prepared.execute_batch(batch, &request).or_status()?;
                    changes.inserted += more.total();
                }
                Ok(StatementResult::Changed(changes.total()))
            }
        }
    }
}

/// What a statement did.
enum StatementResult {
    Rows(BoxedReader),
    Changed(u64),
    Done,
}

impl StatementResult {
    fn of(answer: Answer) -> Self {
        match answer {
            Answer::Rows(rows) => StatementResult::Rows(Box::new(BatchReader {
                schema: rows.schema().clone(),
                batches: rows,
            })),
            Answer::Changed(changes) => StatementResult::Changed(changes.total()),
            Answer::Done(_) => StatementResult::Done,
        }
    }
}

/// The rows of a prepared statement for each row that is bound, one after another.
fn each_bound(
    prepared: &Prepared,
    bound: &[RecordBatch],
    request: &Request,
) -> Result<StatementResult> {
    let mut answers = Vec::new();
    // All are carried out before the first row is read, so that an error is one of the call.
    for batch in bound {
        for row in 0..batch.num_rows() {
            let parameters = Parameters::of_row(batch, row).or_status()?;
            let answer = prepared.execute_request(&request.clone().parameters(parameters));
            match answer.or_status()? {
                Answer::Rows(rows) => answers.push(rows),
                _ => {
                    return Err(invalid_state(
                        "the statement gave rows before, and gives none now",
                    ));
                }
            }
        }
    }
    // Only an answer tells the columns, so without a bound row there are none.
    let Some(first) = answers.first() else { return Ok(StatementResult::Rows(empty_reader())) };
    let schema = first.schema().clone();
    Ok(StatementResult::Rows(Box::new(BatchReader {
        schema,
        batches: answers.into_iter().flatten(),
    })))
}

impl Optionable for TonnageStatement {
    type Option = OptionStatement;

    fn set_option(&mut self, name: OptionStatement, value: OptionValue) -> Result<()> {
        let only = |name: &str, value: OptionValue, own: &str| match text(name, value)? {
            given if given == own => Ok(()),
            given => Err(not_found(format!("there is no {name} {given}"))),
        };
        match name.as_ref() {
            // A statement has a text or a table to fill: the one that was set last counts.
            "adbc.ingest.target_table" => {
                self.ingest.table = Some(text(name.as_ref(), value)?);
                self.text = None;
                Ok(())
            }
            "adbc.ingest.mode" => {
                self.ingest.mode = Some(match text(name.as_ref(), value)?.as_str() {
                    "adbc.ingest.mode.create" => IngestMode::Create,
                    "adbc.ingest.mode.append" => IngestMode::Append,
                    "adbc.ingest.mode.replace" => IngestMode::Replace,
                    "adbc.ingest.mode.create_append" => IngestMode::CreateAppend,
                    other => return Err(invalid(format!("there is no mode {other}"))),
                });
                Ok(())
            }
            // Drivers name the one catalog and schema although nothing else can be meant.
            "adbc.ingest.target_catalog" => only("catalog", value, CATALOG),
            "adbc.ingest.target_db_schema" => only("schema", value, "public"),
            "adbc.ingest.temporary" => match truth(name.as_ref(), value)? {
                false => Ok(()),
                true => Err(not_offered("there are no temporary tables")),
            },
            PRIMARY_KEY => {
                self.ingest.primary_key = Some(text(PRIMARY_KEY, value)?);
                Ok(())
            }
            ON_EXISTING => {
                self.ingest.on_existing = Some(match text(ON_EXISTING, value)?.as_str() {
                    "keep" => OnExisting::Keep,
                    "replace" => OnExisting::Replace,
                    "blind" => OnExisting::BlindReplace,
                    "fail" => OnExisting::Fail,
                    other => {
                        return Err(invalid(format!(
                            "{ON_EXISTING} is '{other}': give 'keep', 'replace', 'blind' or 'fail'"
                        )));
                    }
                });
                Ok(())
            }
            other => Err(not_offered(&format!("the statement has no option {other}"))),
        }
    }

    fn get_option_string(&self, name: OptionStatement) -> Result<String> {
        match (name.as_ref(), &self.ingest.table) {
            ("adbc.ingest.target_table", Some(table)) => Ok(table.clone()),
            (other, _) => Err(not_found(format!("there is no option {other}"))),
        }
    }

    fn get_option_bytes(&self, name: OptionStatement) -> Result<Vec<u8>> {
        Err(not_found(format!("there is no option {} of bytes", name.as_ref())))
    }

    fn get_option_int(&self, name: OptionStatement) -> Result<i64> {
        Err(not_found(format!("there is no option {} of a number", name.as_ref())))
    }

    fn get_option_double(&self, name: OptionStatement) -> Result<f64> {
        Err(not_found(format!("there is no option {} of a number", name.as_ref())))
    }
}

impl Statement for TonnageStatement {
    fn bind(&mut self, batch: RecordBatch) -> Result<()> {
        self.bound = Some(single_batch_reader(batch));
        Ok(())
    }

    fn bind_stream(&mut self, reader: Box<dyn RecordBatchReader + Send>) -> Result<()> {
        self.bound = Some(reader);
        Ok(())
    }

    fn execute(&mut self) -> Result<BoxedReader> {
        Ok(match self.run()? {
            StatementResult::Rows(rows) => rows,
            StatementResult::Changed(_) | StatementResult::Done => empty_reader(),
        })
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        match self.run()? {
            StatementResult::Changed(count) => Ok(i64::try_from(count).ok()),
            StatementResult::Done => Ok(None),
            // Who asks for no rows wants the statement carried out to its end.
            StatementResult::Rows(rows) => {
                let mut count = 0;
                for batch in rows {
                    count += batch.map_err(|error| internal(&error))?.num_rows();
                }
                Ok(i64::try_from(count).ok())
            }
        }
    }

    fn execute_schema(&mut self) -> Result<Schema> {
        let described = self.sql.describe(self.text()?).or_status()?;
        Ok(described.rows.map_or_else(Schema::empty, |rows| rows.as_ref().clone()))
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        Err(not_offered("answers have no partitions"))
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        let described = self.sql.describe(self.text()?).or_status()?;
        Ok(Schema::new(described.parameters))
    }

    fn prepare(&mut self) -> Result<()> {
        self.prepared().map(drop)
    }

    fn set_sql_query(&mut self, query: impl AsRef<str>) -> Result<()> {
        self.text = Some(query.as_ref().to_owned());
        self.prepared = None;
        self.ingest.table = None;
        Ok(())
    }

    fn set_substrait_plan(&mut self, _: impl AsRef<[u8]>) -> Result<()> {
        Err(not_offered("there are no plans of Substrait: give SQL"))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(self.running.clone())
    }
}
