//! What a statement gives back.

use std::sync::Arc;

use super::wait::wait_guarded;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tonnage::{DdlOutcome, Error, Result};

use super::guard::Guard;
use crate::access::declared_schema;
use crate::engine::Engine;
use crate::errors::from_datafusion;
use crate::text::with_distinct_names;

/// The answer to one statement.
pub enum Answer {
    /// Rows, to be drawn: of SELECT, EXPLAIN, SHOW, DESCRIBE, and of RETURNING.
    Rows(Rows),
    /// How many rows were written: of INSERT, UPSERT, UPDATE, DELETE.
    Changed(Changes),
    /// What was defined: of CREATE, DROP, ALTER.
    Done(DdlOutcome),
}

impl Answer {
    /// The rows of a statement that gives rows.
    ///
    /// # Errors
    /// `Invalid` for a statement that gives none.
    pub fn into_rows(self) -> Result<Rows> {
        match self {
            Answer::Rows(rows) => Ok(rows),
            _ => Err(Error::invalid("the statement gives no rows")),
        }
    }
}

/// How many rows a statement wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Rows stored under a key that was free.
    pub inserted: u64,
    /// Rows changed, or stored over another.
    pub updated: u64,
    /// Rows deleted.
    pub deleted: u64,
    /// Rows left out because their key existed and `ON CONFLICT DO NOTHING` was said.
    pub skipped: u64,
}

impl Changes {
    /// Rows that are not as they were.
    pub fn total(&self) -> u64 {
        self.inserted + self.updated + self.deleted
    }
}

/// The rows of an answer, an iterator of record batches. They are read as they are drawn; dropping
/// it stops the statement.
pub struct Rows {
    schema: SchemaRef,
    source: AnswerSource,
    guard: Guard,
}

enum AnswerSource {
    Batches(Box<dyn Iterator<Item = Result<RecordBatch>> + Send>),
    Plan(RunningPlan),
    Over,
}

/// A plan that runs on the threads of the engine.
struct RunningPlan {
    batches: mpsc::Receiver<Result<RecordBatch>>,
    task: JoinHandle<()>,
    /// Its threads must be there as long as the plan runs.
    _engine: Arc<Engine>,
}

impl RunningPlan {
    /// The next batch. A plan that panics closes the queue too: that is not the end of its rows.
    fn next(&mut self, guard: &Guard) -> Result<Option<RecordBatch>> {
        if let Some(batch) = wait_guarded(self.batches.recv(), guard)? {
            return batch.map(Some);
        }
        match wait_guarded(&mut self.task, guard)? {
            Ok(()) => Ok(None),
            Err(error) => Err(Error::internal(format!("the statement broke off: {error}"))),
        }
    }
}

impl Drop for RunningPlan {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Batches that may wait for the reader.
const QUEUED_BATCHES_MAX: usize = 2;

impl Rows {
    /// Rows out of an iterator.
    pub(crate) fn new(
        schema: &SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
        guard: Guard,
    ) -> Self {
        Self {
            schema: declared_schema(schema),
            source: AnswerSource::Batches(Box::new(batches)),
            guard,
        }
    }

    /// Rows that are there already.
    pub(crate) fn ready(batch: RecordBatch) -> Self {
        Self::new(&batch.schema(), std::iter::once(Ok(batch)), Guard::default())
    }

    /// The same after rows that are there already.
    pub(crate) fn after_batch(self, first: RecordBatch) -> Self {
        let (schema, guard) = (self.schema.clone(), self.guard.clone());
        Self::new(&schema, std::iter::once(Ok(first)).chain(self), guard)
    }

    /// The rows of a plan.
    pub(crate) fn of_plan(
        mut stream: SendableRecordBatchStream,
        engine: &Arc<Engine>,
        guard: Guard,
    ) -> Self {
        let schema = stream.schema();
        let (sender, batches) = mpsc::channel(QUEUED_BATCHES_MAX);
        let task = engine.handle().spawn(async move {
            while let Some(batch) = stream.next().await {
                let batch = batch.map_err(from_datafusion);
                let failed = batch.is_err();
                if sender.send(batch).await.is_err() || failed {
                    return;
                }
            }
        });
        let running = RunningPlan { batches, task, _engine: engine.clone() };
        Self { schema: declared_schema(&schema), source: AnswerSource::Plan(running), guard }
    }

    /// The same with columns of which no two are called alike.
    pub(crate) fn with_distinct_names(self) -> Self {
        let schema = with_distinct_names(&self.schema);
        Self { schema, ..self }
    }

    /// The columns of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// All rows as one batch.
    ///
    /// # Errors
    /// The first that comes out of the iterator.
    pub fn into_batch(self) -> Result<RecordBatch> {
        let schema = self.schema.clone();
        let batches = self.collect::<Result<Vec<_>>>()?;
        arrow::compute::concat_batches(&schema, &batches).map_err(|error| {
            Error::invalid(format!("the rows are too many for one batch: {error}"))
                .with_source(error)
        })
    }

    fn draw(&mut self) -> Option<Result<RecordBatch>> {
        match &mut self.source {
            AnswerSource::Batches(batches) => batches.next(),
            AnswerSource::Plan(running) => running.next(&self.guard).transpose(),
            AnswerSource::Over => None,
        }
    }

    /// The batch under the names of the answer.
    fn rename(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if Arc::ptr_eq(batch.schema_ref(), &self.schema) || *batch.schema_ref() == self.schema {
            return Ok(batch);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), batch.columns().to_vec(), &options)
            .map_err(|error| Error::internal(format!("the columns could not be renamed: {error}")))
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if matches!(self.source, AnswerSource::Over) {
                return None;
            }
            let drawn = match self.guard.check() {
                Ok(()) => self.draw(),
                Err(error) => Some(Err(error)),
            };
            match drawn {
                Some(Ok(batch)) if batch.num_rows() == 0 => continue,
                Some(Ok(batch)) => return Some(self.rename(batch)),
                ended => {
                    self.source = AnswerSource::Over;
                    return ended;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;
    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use tonnage::{ErrorKind, Store};

    use super::*;
    use crate::catalog::CatalogContext;
    use crate::session::SqlOptions;
    use crate::statistics::StatisticsCache;

    fn engine() -> Arc<Engine> {
        let store = Store::open("memory:").unwrap();
        let options = Arc::new(SqlOptions::default());
        let statistics = Arc::new(StatisticsCache::new(store.clone()));
        let context = CatalogContext { store, options, statistics, transaction: None };
        Arc::new(Engine::new(&context).unwrap())
    }

    /// Readers of such an answer took the rows before the panic for all of them.
    #[test]
    fn a_plan_that_panics_does_not_end_its_rows_well() {
        let schema = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, false)]));
        let batch = Arc::new(Int64Array::from(vec![7]));
        let batch = RecordBatch::try_new(schema.clone(), vec![batch]).unwrap();
        let batches = futures::stream::iter([Some(batch), None])
            .map(|batch| Ok(batch.expect("an offset that overflows")));
        let stream = Box::pin(RecordBatchStreamAdapter::new(schema, batches));

        let mut rows = Rows::of_plan(stream, &engine(), Guard::default());

        assert_eq!(rows.next().unwrap().unwrap().num_rows(), 1);
        let error = rows.next().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert!(error.message().contains("an offset that overflows"), "{error}");
        assert!(rows.next().is_none());
    }
}
