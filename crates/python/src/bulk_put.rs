//! Bulk puts: turns Python's objects into sources, and runs the load on a thread of its own.
//!
//! The calling thread waits in steps of 50 ms, without the interpreter's lock. Between the steps it
//! checks for Ctrl-C, reports the progress, and passes on what the load reported. So callbacks run
//! on the caller's thread, in batches, and may use the store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use tonnage::{
    BulkPutCallbacks, BulkPutError, BulkPutOptions, BulkPutReport, Counts, EntryBatch, EntryStream,
    ErrorsMax, ExistingEntry, FailedEntry, Progress, Result, StreamReport, TableSchema,
};
use tonnage_client::Connection;
use tonnage_files::Source;

use crate::arrow_in::reader_of;
use crate::arrow_rows::{rows_of_batches, rows_of_file};
use crate::error::{OrRaise, to_exception};
use crate::python_rows::{PairStream, RaisedError, RowStream};
use crate::read_options::seconds;
use crate::write_options::{durability, on_existing};

/// How long the caller waits between looks for Ctrl-C.
const STEP: Duration = Duration::from_millis(50);
/// Reports that wait for the caller; the load waits when there are more.
const REPORTS_MAX: usize = 65_536;

/// Stops a running bulk put or query from another thread.
#[pyclass(frozen, skip_from_py_object, module = "tonnage._tonnage")]
#[derive(Clone, Default)]
pub(crate) struct Cancel(pub(crate) tonnage::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops what it was given to. What is stored by then stays.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether `cancel` was called.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// How to put in bulk: what the package's `bulk_put` takes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PutArguments<'py> {
    on_existing: String,
    durability: String,
    errors_max: Option<u64>,
    errors_percent_max: Option<f64>,
    stream_parallelism: Option<usize>,
    per_shard_parallelism: Option<usize>,
    memory_bytes: Option<usize>,
    request_bytes: Option<usize>,
    flush_bytes: Option<u64>,
    rows_per_second: Option<u64>,
    bytes_per_second: Option<u64>,
    timeout: Option<f64>,
    on_failed: Option<Bound<'py, PyAny>>,
    on_exists: Option<Bound<'py, PyAny>>,
    on_completed: Option<Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
    cancel: Option<Bound<'py, Cancel>>,
}

impl PutArguments<'_> {
    fn options(&self) -> PyResult<BulkPutOptions> {
        let defaults = BulkPutOptions::default();
        Ok(BulkPutOptions {
            on_existing: on_existing(&self.on_existing)?,
            durability: durability(&self.durability)?,
            errors_max: match (self.errors_max, self.errors_percent_max) {
                (Some(count), _) => ErrorsMax::Count(count),
                (None, Some(percent)) => ErrorsMax::Percent(percent),
                (None, None) => ErrorsMax::Unlimited,
            },
            stream_parallelism: self.stream_parallelism,
            per_shard_parallelism: self.per_shard_parallelism,
            memory_bytes_max: self.memory_bytes,
            request_bytes_max: self.request_bytes.unwrap_or(defaults.request_bytes_max),
            flush_bytes_max: self.flush_bytes.unwrap_or(defaults.flush_bytes_max),
            rows_per_second_max: self.rows_per_second,
            bytes_per_second_max: self.bytes_per_second,
            timeout: seconds(self.timeout)?,
            cancel: self.cancel.as_ref().map(|cancel| cancel.get().0.clone()).unwrap_or_default(),
            ..defaults
        })
    }
}

/// What the load tells the caller.
enum EntryReport {
    Failed { stream: usize, position: u64, column: Option<String>, reason: String },
    Exists { stream: usize, position: u64, table: String, key: Vec<(String, tonnage::Value)> },
    Completed(StreamReport),
}

/// Hands reports to the calling thread, of those kinds that it asked for.
struct ReportSender {
    reports: Sender<EntryReport>,
    failed: bool,
    exists: bool,
    completed: bool,
}

impl BulkPutCallbacks for ReportSender {
    fn existing(&self, entry: &ExistingEntry<'_>) -> Result<()> {
        if self.exists {
            let (table, key) = entry.table_and_key()?;
            let key = key.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
            let (stream, position) = (entry.stream, entry.position);
            let _ = self.reports.send(EntryReport::Exists { stream, position, table, key });
        }
        Ok(())
    }

    fn failed(&self, entry: &FailedEntry<'_>) -> Result<()> {
        if self.failed {
            let _ = self.reports.send(EntryReport::Failed {
                stream: entry.stream,
                position: entry.position,
                column: entry.column.map(str::to_owned),
                reason: entry.reason.to_owned(),
            });
        }
        Ok(())
    }

    fn completed(&self, stream: &StreamReport) {
        if self.completed {
            let _ = self.reports.send(EntryReport::Completed(stream.clone()));
        }
    }
}

/// One source of a bulk put: its name, the path of its table (nothing for key/value pairs), its
/// time to live in seconds, and the object that gives the rows.
pub(crate) type SourceArgument<'py> = (String, Option<String>, Option<f64>, Bound<'py, PyAny>);

/// Puts what the sources give, and answers the report as a dict. When the load stops, the dict has
/// its `error`; when a source or a callback raised, or Ctrl-C came, its `exception`.
///
/// # Errors
/// For sources and options that do not fit: then nothing was read.
pub(crate) fn bulk_put<'py>(
    py: Python<'py>,
    place: &Connection,
    sources: Vec<SourceArgument<'py>>,
    arguments: &PutArguments<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    // The client asks for no places of existing rows: the callback would never be called, in
    // silence.
    if matches!(place, Connection::Remote(_)) && arguments.on_exists.is_some() {
        return Err(to_exception(&tonnage::Error::unsupported(
            "a server does not tell the keys that exist: leave on_exists out, or ask it first",
        )));
    }
    let raised = RaisedError::default();
    let streams = sources
        .into_iter()
        .map(|source| stream_of(py, place, source, &raised))
        .collect::<PyResult<Vec<_>>>()?;
    let mut options = arguments.options()?;
    let progress = Progress::default();
    let cancel = options.cancel.clone();
    let (reports, reported) = bounded(REPORTS_MAX);
    options.progress = Some(progress.clone());
    options.callbacks = Arc::new(ReportSender {
        reports,
        failed: arguments.on_failed.is_some(),
        exists: arguments.on_exists.is_some(),
        completed: arguments.on_completed.is_some(),
    });

    let (done, ended) = bounded(1);
    let place = place.clone();
    let load = std::thread::Builder::new().name("tonnage-put".to_owned()).spawn(move || {
        let ended = place.bulk_put(streams, &options);
        // The last reports go out before the end does.
        drop(options);
        let _ = done.send(ended);
    });
    if let Err(error) = load {
        let error = tonnage::Error::unavailable(format!("no thread for the bulk put: {error}"));
        return Err(to_exception(&error));
    }
    let watch = PutMonitor { arguments, progress: &progress, reported: &reported };
    let ended = watch.wait_for_end(py, &ended, &cancel, &raised);
    report_of(py, ended, raised.take())
}

struct PutMonitor<'a, 'py> {
    arguments: &'a PutArguments<'py>,
    progress: &'a Progress,
    reported: &'a Receiver<EntryReport>,
}

type PutOutcome = std::result::Result<BulkPutReport, BulkPutError>;

impl PutMonitor<'_, '_> {
    fn wait_for_end(
        &self,
        py: Python<'_>,
        ended: &Receiver<PutOutcome>,
        cancel: &tonnage::Cancel,
        raised: &RaisedError,
    ) -> PutOutcome {
        let mut is_over = false;
        loop {
            // Taken before the callbacks and returned after them: they get of all that came before
            // the end.
            let end = py.detach(|| ended.recv_timeout(STEP));
            let told = py.check_signals().and_then(|()| match is_over {
                // The load waits for room among the reports, and would never end.
                true => {
                    self.reported.try_iter().for_each(drop);
                    Ok(())
                }
                false => self.run_callbacks(py),
            });
            if let Err(error) = told {
                raised.set(error);
                cancel.cancel();
                is_over = true;
            }
            match end {
                Ok(ended) => return ended,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let error = tonnage::Error::internal("the bulk put has panicked");
                    return Err(error.into());
                }
            }
        }
    }

    /// Calls back with what came since the last time.
    fn run_callbacks(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(progress) = &self.arguments.progress {
            progress.call1((counts_of(py, &self.progress.total())?,))?;
        }
        let (failed, exists) = (PyList::empty(py), PyList::empty(py));
        let mut completed = Vec::new();
        // The load continues meanwhile: an endless batch would leave no time to look for Ctrl-C.
        for report in self.reported.try_iter().take(REPORTS_MAX) {
            match report {
                EntryReport::Failed { stream, position, column, reason } => {
                    failed.append((stream, position, column, reason))?;
                }
                EntryReport::Exists { stream, position, table, key } => {
                    let row = PyDict::new(py);
                    for (name, value) in key {
                        row.set_item(name, crate::record_cells::value_of(py, &value)?)?;
                    }
                    exists.append((stream, position, table, row))?;
                }
                EntryReport::Completed(stream) => completed.push(stream),
            }
        }
        // The package promises lists, so each callback hears of all rows of a step in one call.
        let told = [(&self.arguments.on_failed, failed), (&self.arguments.on_exists, exists)];
        for (callback, reports) in told {
            if let Some(callback) = callback
                && !reports.is_empty()
            {
                callback.call1((reports,))?;
            }
        }
        // Last: a callback for a complete stream comes after those of all its rows.
        if let Some(callback) = &self.arguments.on_completed {
            for stream in &completed {
                callback.call1((stream_report(py, stream)?,))?;
            }
        }
        Ok(())
    }
}

fn report_of<'py>(
    py: Python<'py>,
    ended: PutOutcome,
    raised: Option<PyErr>,
) -> PyResult<Bound<'py, PyDict>> {
    let (report, error, too_many_errors) = match ended {
        Ok(report) => (report, None, false),
        Err(stopped) => (*stopped.report, Some(stopped.error), stopped.too_many_errors),
    };
    let told = PyDict::new(py);
    told.set_item("total", counts_of(py, &report.total)?)?;
    let streams = report.streams.iter().map(|stream| stream_report(py, stream));
    told.set_item("streams", streams.collect::<PyResult<Vec<_>>>()?)?;
    told.set_item("seconds", report.seconds)?;
    told.set_item("error", error.map(|error| to_exception(&error).into_value(py)))?;
    told.set_item("too_many_errors", too_many_errors)?;
    told.set_item("exception", raised.map(|error| error.into_value(py)))?;
    Ok(told)
}

fn counts_of<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("read", counts.read)?;
    told.set_item("inserted", counts.inserted)?;
    told.set_item("existed", counts.existed)?;
    told.set_item("overtaken", counts.overtaken)?;
    told.set_item("failed", counts.failed)?;
    told.set_item("bytes", counts.bytes)?;
    Ok(told)
}

fn stream_report<'py>(py: Python<'py>, stream: &StreamReport) -> PyResult<Bound<'py, PyDict>> {
    let told = counts_of(py, &stream.counts)?;
    told.set_item("stream", stream.stream)?;
    told.set_item("name", &stream.name)?;
    told.set_item("completed", stream.completed)?;
    Ok(told)
}

/// A stream of entries out of what Python gave.
fn stream_of(
    py: Python<'_>,
    place: &Connection,
    (name, table, ttl, source): SourceArgument<'_>,
    raised: &RaisedError,
) -> PyResult<Box<dyn EntryStream>> {
    let ttl = seconds(ttl)?;
    let stream = match table {
        None => pairs_of(&source, raised)?,
        Some(table) => {
            let table = py.detach(|| place.table(&table)).or_raise()?;
            rows_of(table.schema(), name, &source, raised)?
        }
    };
    Ok(match ttl {
        None => stream,
        Some(ttl) => Box::new(WithTtl { stream, ttl }),
    })
}

fn pairs_of(source: &Bound<'_, PyAny>, raised: &RaisedError) -> PyResult<Box<dyn EntryStream>> {
    let pairs = match source.cast::<PyDict>() {
        Ok(dict) => dict.call_method0("items")?,
        Err(_) => source.clone(),
    };
    Ok(Box::new(PairStream::new(pairs.try_iter()?.unbind(), raised.clone())))
}

fn rows_of(
    table: &TableSchema,
    name: String,
    source: &Bound<'_, PyAny>,
    raised: &RaisedError,
) -> PyResult<Box<dyn EntryStream>> {
    // The order matters: data frames, texts and dicts are iterables, too, but not of rows.
    if let Some(reader) = reader_of(source)? {
        return rows_of_batches(table, name, reader).or_raise();
    }
    if source.is_instance_of::<PyString>() || source.hasattr("__fspath__")? {
        let file = Source::file(source.extract::<PathBuf>()?);
        return rows_of_file(table, name, &file).or_raise();
    }
    // A dict of columns is read as its rows.
    if let Ok(columns) = source.cast::<PyDict>() {
        return rows_of(table, name, &rows_of_columns(columns)?, raised);
    }
    let rows = source.try_iter().map_err(|_| {
        PyTypeError::new_err(format!(
            "a source of rows is an Arrow table or reader, a data frame, a path, a dict of columns, \
             or an iterable of dicts or sequences, not {}",
            source.get_type()
        ))
    })?;
    let columns = table.columns.iter().map(|column| column.name.clone()).collect();
    let path = table.path.as_str().into();
    Ok(Box::new(RowStream::new(rows.unbind(), name, path, columns, raised.clone())))
}

/// An iterator of dicts over a dict of columns.
fn rows_of_columns<'py>(columns: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    columns.py().import("tonnage._rows")?.getattr("of_columns")?.call1((columns,))
}

struct WithTtl {
    stream: Box<dyn EntryStream>,
    ttl: Duration,
}

impl EntryStream for WithTtl {
    fn name(&self) -> String {
        self.stream.name()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        let batch = self.stream.next_batch()?;
        Ok(batch.map(|batch| EntryBatch { ttl: Some(self.ttl), ..batch }))
    }
}
