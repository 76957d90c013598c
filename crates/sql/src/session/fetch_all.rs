//! Many statements in one call.
//!
//! 1. Threads, no more than the session may have, look at the statements: simple ones are bound,
//!    and those of a few rows by their keys carried out at once, for reading these takes no longer
//!    than looking at them did.
//! 2. Aggregates over the same rows are put together.
//! 3. Threads take one piece of work after another: a group of aggregates with one read, or a
//!    single statement.
//!
//! Results are gathered; together they may take as much memory as the session allows its
//! statements.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use tonnage::internal::sync::{into_inner, lock};
use tonnage::{Error, Result};

use super::answer::{Answer, Rows};
use super::explain::ExplainStatement;
use super::guard::Guard;
use super::request::Request;
use super::show;
use super::sql::Sql;
use super::statement::ParsedStatement;
use super::statement_cache::CachedStatement;
use crate::access::ReadSpec;
use crate::direct::{Aggregates, DirectRead, DirectWork, aggregate, explain_aggregates};
use crate::text::{Cursor, StatementKind};

/// Looking at so many statements takes about as long as starting a thread.
const LOOKS_PER_THREAD: usize = 8;

/// Aggregates over the same rows.
struct SharedAggregates {
    spec: ReadSpec,
    members: Vec<(SharingStatement, Aggregates)>,
    /// Whether only their plan is wanted.
    explain: bool,
}

/// A statement that shares a read, with limits of its own.
struct SharingStatement {
    index: usize,
    guard: Guard,
}

/// What one thread takes at a time.
enum MultiJob {
    Shared(SharedAggregates),
    Direct(usize, DirectRead, Guard),
    Statement(usize, Arc<CachedStatement>),
}

/// The answers so far, and the memory that they take.
struct MultiResults {
    answers: Vec<Mutex<Option<Result<Answer>>>>,
    bytes: AtomicUsize,
    bytes_max: usize,
}

impl Sql {
    /// Carries out many statements in one call, each with an answer or an error of its own, in the
    /// order given.
    ///
    /// Aggregates over the same rows of one table (`SELECT max(x) FROM t WHERE ...`,
    /// `SELECT avg(y) FROM t WHERE ...`) share one read, as `EXPLAIN` statements in one call show;
    /// everything else runs side by side on the threads of the session. Nothing is promised about
    /// the order in which statements are carried out. Answers are complete when this returns; what
    /// is too large for that is drawn through [`Sql::execute`].
    pub fn fetch_all<R: Into<Request>>(
        &self,
        requests: impl IntoIterator<Item = R>,
    ) -> Vec<Result<Answer>> {
        let requests: Vec<Request> = requests.into_iter().map(Into::into).collect();
        let results = MultiResults {
            answers: requests.iter().map(|_| Mutex::new(None)).collect(),
            bytes: AtomicUsize::new(0),
            bytes_max: self.options().memory_bytes_max,
        };
        let jobs: Vec<_> =
            self.jobs(&requests, &results).into_iter().map(|job| Mutex::new(Some(job))).collect();
        self.side_by_side(jobs.len(), 1, |number| {
            if let Some(job) = lock(&jobs[number]).take() {
                self.run_job(job, &requests, &results);
            }
        });
        results.into_answers()
    }

    /// Queries without FROM, on one table: `select * where id = 7`, `select max(price)`. Text that
    /// has a FROM is taken as it is.
    ///
    /// # Errors
    /// As [`Sql::execute`]; `Invalid` for anything but one SELECT.
    pub fn query_table(&self, table: &str, request: impl Into<Request>) -> Result<Answer> {
        let request = request.into();
        let piece = crate::text::single(&request.text)?;
        if piece.kind != StatementKind::Query {
            return Err(Cursor::new(&piece).expected("SELECT"));
        }
        let path = self.store().table(table)?.path().to_owned();
        self.run(&CachedStatement::new(piece.with_from(&path)), &request)
    }

    /// Does pieces of work by their numbers, on no more threads than the session may have, and than
    /// there are for so many pieces each.
    fn side_by_side(&self, pieces: usize, pieces_per_thread: usize, work: impl Fn(usize) + Sync) {
        let next = AtomicUsize::new(0);
        let work = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            numbers.take_while(|number| *number < pieces).for_each(&work);
        };
        std::thread::scope(|scope| {
            for _ in 1..self.options().workers().min(pieces.div_ceil(pieces_per_thread)) {
                scope.spawn(work);
            }
            work();
        });
    }

    /// Sorts statements into jobs; what took no longer than looking at it, or is wrong, is answered
    /// already.
    fn jobs(&self, requests: &[Request], results: &MultiResults) -> Vec<MultiJob> {
        let looked_at: Vec<_> = requests.iter().map(|_| Mutex::new(None)).collect();
        self.side_by_side(requests.len(), LOOKS_PER_THREAD, |index| {
            match self.job(index, &requests[index]) {
                Err(error) => results.put(index, Err(error)),
                Ok(MultiJob::Direct(_, direct, guard)) if direct.spec.is_small() => {
                    results.put_rows(index, direct.run(guard))
                }
                Ok(job) => *lock(&looked_at[index]) = Some(job),
            }
        });
        let mut jobs = Vec::<MultiJob>::new();
        for job in looked_at.into_iter().filter_map(into_inner) {
            match job {
                MultiJob::Shared(shared) => share_read(&mut jobs, shared),
                job => jobs.push(job),
            }
        }
        jobs
    }

    fn job(&self, index: usize, request: &Request) -> Result<MultiJob> {
        let statements = self.statements(&request.text)?;
        // Answers are in the order of the requests, so a request is one statement with one
        // answer.
        let [statement] = statements.as_slice() else {
            return Err(Error::invalid(format!(
                "statement {index}: it holds {} statements instead of one",
                statements.len()
            )));
        };
        // EXPLAIN shows which statements share a read, so its query is looked at like any other.
        let (query, explain) = match statement.parsed() {
            Ok(ParsedStatement::Query) => (&statement.query, false),
            Ok(ParsedStatement::Explain(ExplainStatement::Query {
                query: Some(query), ..
            })) => (query.as_ref(), true),
            _ => return Ok(MultiJob::Statement(index, statement.clone())),
        };
        let guard = self.guard(request);
        Ok(match self.direct(query, &request.parameters)? {
            Some(DirectRead { spec, work: DirectWork::Aggregates(work) }) => {
                MultiJob::Shared(SharedAggregates {
                    spec,
                    members: vec![(SharingStatement { index, guard }, work)],
                    explain,
                })
            }
            Some(direct) if !explain => MultiJob::Direct(index, direct, guard),
            _ => MultiJob::Statement(index, statement.clone()),
        })
    }

    fn run_job(&self, job: MultiJob, requests: &[Request], results: &MultiResults) {
        match job {
            MultiJob::Statement(index, statement) => {
                results.put(
                    index,
                    self.run(&statement, &requests[index])
                        .and_then(|answer| results.gather(answer)),
                );
            }
            MultiJob::Direct(index, direct, guard) => results.put_rows(index, direct.run(guard)),
            MultiJob::Shared(shared) => shared.run(results),
        }
    }
}

/// Puts aggregates to those over the same rows.
fn share_read(jobs: &mut Vec<MultiJob>, shared: SharedAggregates) {
    let same = jobs.iter_mut().find_map(|job| match job {
        MultiJob::Shared(other)
            if other.explain == shared.explain && other.reads_as(&shared.spec) =>
        {
            Some(other)
        }
        _ => None,
    });
    let Some(same) = same else { return jobs.push(MultiJob::Shared(shared)) };
    let columns: BTreeSet<usize> =
        same.spec.columns.iter().chain(&shared.spec.columns).copied().collect();
    same.spec.columns = columns.into_iter().collect();
    same.members.extend(shared.members);
}

impl SharedAggregates {
    fn reads_as(&self, spec: &ReadSpec) -> bool {
        Arc::ptr_eq(self.spec.table.table.entry(), spec.table.table.entry())
            && self.spec.path == spec.path
    }

    fn run(self, results: &MultiResults) {
        let (statements, works): (Vec<_>, Vec<_>) = self.members.into_iter().unzip();
        if self.explain {
            let text = explain_aggregates(&self.spec, &works.iter().collect::<Vec<_>>());
            let text = if statements.len() > 1 {
                format!("shared by {} statements\n{text}", statements.len())
            } else {
                text
            };
            for SharingStatement { index, .. } in statements {
                results.put(index, show::plan(&text).map(|batch| Answer::Rows(Rows::ready(batch))));
            }
            return;
        }
        // The read continues while one of them may still wait for it.
        let guards = statements.iter().map(|statement| statement.guard.clone());
        let guard = guards.reduce(Guard::shared_with).unwrap_or_default();
        match aggregate(&self.spec, works, &guard) {
            Ok(batches) => {
                for (SharingStatement { index, guard }, batch) in
                    statements.into_iter().zip(batches)
                {
                    let ready = |()| Answer::Rows(Rows::ready(batch));
                    results.put(index, guard.check().map(ready));
                }
            }
            // One read serves all of them, so its error is the answer of each that has not come to
            // a limit of its own.
            Err(error) => {
                for SharingStatement { index, guard } in statements {
                    let own = guard.check().err();
                    results.put(index, Err(own.unwrap_or_else(|| error.restated())));
                }
            }
        }
    }
}

impl MultiResults {
    fn put(&self, index: usize, answer: Result<Answer>) {
        *lock(&self.answers[index]) = Some(answer);
    }

    fn put_rows(&self, index: usize, rows: Result<Rows>) {
        self.put(index, rows.and_then(|rows| self.gather(Answer::Rows(rows))));
    }

    /// An answer with all of its rows.
    fn gather(&self, answer: Answer) -> Result<Answer> {
        let Answer::Rows(rows) = answer else { return Ok(answer) };
        let schema = rows.schema().clone();
        let mut batches = Vec::<Result<RecordBatch>>::new();
        for batch in rows {
            let batch = batch?;
            let bytes = batch.get_array_memory_size();
            if self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.bytes_max {
                return Err(Error::exhausted(format!(
                    "the results of this call take more than memory_bytes_max, {} bytes: ask for fewer at once, or draw this one by itself",
                    self.bytes_max
                )));
            }
            batches.push(Ok(batch));
        }
        Ok(Answer::Rows(Rows::new(&schema, batches.into_iter(), Guard::default())))
    }

    fn into_answers(self) -> Vec<Result<Answer>> {
        let lost = || Err(Error::internal("a statement was not carried out"));
        let answer = |answer: Mutex<Option<_>>| into_inner(answer).unwrap_or_else(lost);
        self.answers.into_iter().map(answer).collect()
    }
}
