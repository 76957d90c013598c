//! Runs simple statements.

use std::sync::Mutex;

use arrow::array::RecordBatch;
use tonnage::internal::sync::lock;
use tonnage::{Direction, Error, Result};

use super::{Aggregates, DirectRead, DirectWork};
use crate::access::{
    AccessPath, ColumnOrder, ReadSpec, SourceCounts, direction_for, index_in_order,
};
use crate::session::{Guard, Rows};

impl DirectRead {
    /// Starts to read, or aggregates right away.
    pub(crate) fn run(self, guard: Guard) -> Result<Rows> {
        match self.work {
            DirectWork::Rows(schema) => {
                Ok(Rows::new(&schema, self.spec.open(guard.clone())?, guard))
            }
            DirectWork::Aggregates(work) => {
                let mut results = aggregate(&self.spec, vec![work], &guard)?;
                Ok(Rows::ready(results.remove(0)))
            }
        }
    }

    /// Its description in EXPLAIN.
    pub(crate) fn describe(&self) -> String {
        match &self.work {
            DirectWork::Rows(_) => format!("StoreScan: {}", self.spec.describe()),
            DirectWork::Aggregates(work) => explain_aggregates(&self.spec, &[work]),
        }
    }
}

/// The description in EXPLAIN of aggregates that share a read.
pub(crate) fn explain_aggregates(spec: &ReadSpec, works: &[&Aggregates]) -> String {
    let mut text = String::new();
    for work in works {
        text.push_str(&format!("Aggregate: {}\n", work.describe()));
    }
    match works.iter().map(|work| end_reads(spec, work)).collect::<Option<Vec<_>>>() {
        Some(reads) => {
            let lines =
                reads.iter().flatten().map(|read| format!("  StoreScan: {}", read.describe()));
            text.push_str(&lines.collect::<Vec<_>>().join("\n"));
        }
        None => text.push_str(&format!("  StoreScan: {}", spec.describe())),
    }
    text
}

/// Carries out the aggregates of several statements over the same rows with one read. `spec` names
/// all the columns wanted.
pub(crate) fn aggregate(
    spec: &ReadSpec,
    mut works: Vec<Aggregates>,
    guard: &Guard,
) -> Result<Vec<RecordBatch>> {
    if let Some(reads) = works.iter().map(|work| end_reads(spec, work)).collect::<Option<Vec<_>>>()
    {
        for (work, reads) in works.iter_mut().zip(reads) {
            read_ends(work, &reads, guard)?;
        }
    } else {
        read_all(spec, &mut works, guard)?;
    }
    works.into_iter().map(Aggregates::finish).collect()
}

/// Reads by as many threads as the session may have, when there is enough to read.
fn read_all(spec: &ReadSpec, works: &mut [Aggregates], guard: &Guard) -> Result<()> {
    let parts = spec.open_parts(spec.workers, guard, &SourceCounts::default())?;
    let readers = spec.workers.min(parts.len());
    let parts = Mutex::new(parts.into_iter());
    // Threads take one part after another, since parts differ in size.
    let next = || lock(&parts).next();
    let read = |works: &mut [Aggregates]| -> Result<()> {
        while let Some(part) = next() {
            for batch in part {
                let batch = batch?;
                works.iter_mut().try_for_each(|work| work.update(&spec.columns, &batch))?;
            }
        }
        Ok(())
    };
    if readers < 2 {
        return read(works);
    }
    let helper = |mut works: Vec<Aggregates>| read(&mut works).map(|()| works);
    std::thread::scope(|scope| {
        // Each thread has accumulators of its own, merged at the end: no batch waits for a lock.
        let fresh = || works.iter().map(Aggregates::fresh).collect::<Result<Vec<_>>>();
        let helpers = (1..readers).map(|_| fresh()).collect::<Result<Vec<_>>>()?;
        let helpers: Vec<_> =
            helpers.into_iter().map(|works| scope.spawn(move || helper(works))).collect();
        read(works)?;
        for helper in helpers {
            let helped = helper
                .join()
                .unwrap_or_else(|_| Err(Error::internal("a thread that aggregated panicked")))?;
            works.iter_mut().zip(helped).try_for_each(|(work, helped)| work.merge(helped))?;
        }
        Ok(())
    })
}

/// For aggregates that are all the least or greatest value of a column that rows are ordered by: a
/// read of one row each.
fn end_reads(spec: &ReadSpec, work: &Aggregates) -> Option<Vec<ReadSpec>> {
    let read = |(column, descending): (usize, bool)| {
        let order = ColumnOrder { column, descending };
        let Some(direction) = direction_for(spec, &[order]) else { return end_read(spec, order) };
        let direction =
            if direction == Direction::Unordered { Direction::Forward } else { direction };
        Some(ReadSpec { columns: vec![column], direction, limit: Some(1), ..spec.clone() })
    };
    work.ends()?.into_iter().map(read).collect()
}

/// A read of the first row in an order through an index, where all rows are wanted.
fn end_read(spec: &ReadSpec, order: ColumnOrder) -> Option<ReadSpec> {
    if spec.path != AccessPath::All {
        return None;
    }
    let path = index_in_order(&spec.table, &[], order, false).ok()??;
    Some(ReadSpec {
        path: AccessPath::Index(path),
        columns: vec![order.column],
        direction: order.direction(),
        limit: Some(1),
        ..spec.clone()
    })
}

fn read_ends(work: &mut Aggregates, reads: &[ReadSpec], guard: &Guard) -> Result<()> {
    for (part, read) in reads.iter().enumerate() {
        for batch in read.open(guard.clone())? {
            work.update_part(part, &read.columns, &batch?)?;
        }
    }
    Ok(())
}
