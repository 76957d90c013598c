//! The limits and terms of one statement: cancellation, deadline, durability of its writes,
//! freshness of its reads.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tonnage::internal::ColumnSnapshot;
use tonnage::internal::sync::lock;
use tonnage::{Acks, Cancel, Consistency, Durability, Error, Result, Table, WriteOptions};

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StatementTerms {
    pub(crate) durability: Durability,
    /// As the store was opened without it.
    pub(crate) acks: Option<Acks>,
}

/// Looked at between batches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    cancel: Cancel,
    deadline: Option<(Instant, Duration)>,
    terms: StatementTerms,
    consistency: Option<Consistency>,
    /// Those of other statements that wait for the same read.
    others: Vec<Guard>,
    snapshot: QuerySnapshot,
}

/// The store as all scans of a query see it; asked for by the first of them. Nothing inside it where
/// the store cannot give one.
type QuerySnapshot = Arc<Mutex<Option<Option<ColumnSnapshot>>>>;

impl Guard {
    /// The time begins now.
    pub(crate) fn new(cancel: Cancel, timeout: Option<Duration>) -> Self {
        let deadline =
            timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
        Self { cancel, deadline, ..Self::default() }
    }

    /// The same for writes that are acknowledged then.
    pub(crate) fn with_terms(self, terms: StatementTerms) -> Self {
        Self { terms, ..self }
    }

    /// The same for queries whose rows must be as fresh as this.
    pub(crate) fn with_consistency(self, consistency: Option<Consistency>) -> Self {
        Self { consistency, ..self }
    }

    /// The same for a read that another statement waits for too: it continues while one of them
    /// may.
    pub(crate) fn shared_with(mut self, other: Self) -> Self {
        self.others.push(other);
        self
    }

    /// The same for another query: one that runs later must show what was written in between.
    pub(crate) fn for_query(&self) -> Self {
        Self { snapshot: QuerySnapshot::default(), ..self.clone() }
    }

    /// The store as all scans of the query see it; nothing where it cannot give that.
    pub(crate) fn snapshot(&self, table: &Table) -> Result<Option<ColumnSnapshot>> {
        let mut snapshot = lock(&self.snapshot);
        if let Some(taken) = &*snapshot {
            return Ok(taken.clone());
        }
        let taken = table.column_snapshot()?;
        *snapshot = Some(taken.clone());
        Ok(taken)
    }

    /// When a write is acknowledged.
    pub(crate) fn terms(&self) -> StatementTerms {
        self.terms
    }

    /// The options of a write that is acknowledged then, and waits no longer than the statement
    /// may.
    pub(crate) fn write_options(&self) -> WriteOptions {
        WriteOptions {
            durability: self.terms.durability,
            acks: self.terms.acks,
            timeout: self.time_left(),
            ..WriteOptions::default()
        }
    }

    /// How fresh the rows of a query must be; as the store was opened without it.
    pub(crate) fn consistency(&self) -> Option<Consistency> {
        self.consistency
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// What is left of the time.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|(deadline, _)| deadline.saturating_duration_since(Instant::now()))
    }

    /// The same for what refuses no time at all as a mistake: a short time at least.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.remaining().map(|left| left.max(Duration::from_nanos(1)))
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self.check_own() {
            Err(_) if self.others.iter().any(|other| other.check().is_ok()) => Ok(()),
            own => own,
        }
    }

    fn check_own(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::cancelled("the statement was cancelled"));
        }
        match self.deadline {
            Some((deadline, timeout)) if Instant::now() >= deadline => Err(Error::timed_out(
                format!("the statement took longer than its timeout of {timeout:?}"),
            )),
            _ => Ok(()),
        }
    }
}
