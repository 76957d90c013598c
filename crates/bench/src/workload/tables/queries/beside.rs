//! Queries over large tables: a list of keys, aggregates over everything, and a condition with and
//! without an index.

use std::ops::Range;
use std::sync::Arc;

use tonnage::arrow::array::{Array, Int64Array, RecordBatch, StringArray};
use tonnage::{Error, Result};

use super::Queries;
use super::contest::{Contest, QueryWay};
use super::question::Question;
use super::sums::Sums;
use crate::generate::Permutation;
use crate::report::Report;
use crate::report::format::whole;
use crate::system::{BulkDone, RowSource};
use crate::workload::tables::Subject;
use crate::workload::tables::rows::{COUNTS, Shape, batch, count_of};

/// Of the rows of tables.
const WIDE: &str = "wide";
/// Of two numbers.
const NARROW: &str = "narrow";
/// Rows of one batch on their way in.
const BATCH_ROWS: usize = 65_536;
/// The counts that one row of a hundred has.
const ONE_PERCENT: Range<i64> = 500..500 + COUNTS / 100;

impl<'a> Queries<'a> {
    pub(super) fn beside(&self, report: &mut Report) -> Result<()> {
        let shape = Shape::new(self.options.key);
        shape.define(self.system, WIDE)?;
        let rows = {
            let shape = shape.clone();
            move |places| shape.rows(places)
        };
        self.load(WIDE, rows)?;
        if self.options.wants(Subject::Scan) {
            self.system.define(&format!(
                "CREATE TABLE {NARROW} (id LONG, count LONG, PRIMARY KEY (id))"
            ))?;
            self.load(NARROW, numbers)?;
        }
        self.system.settle()?;
        self.hold(self.list(&shape)?, report)?;
        self.hold(
            self.scan(NARROW, "sum(id), sum(count)", |place| {
                place as f64 + count_of(place) as f64
            })?,
            report,
        )?;
        self.hold(
            self.scan(WIDE, "sum(count), count(status)", |place| 1.0 + count_of(place) as f64)?,
            report,
        )?;
        if self.options.wants(Subject::Index) {
            self.index(&shape, report)?;
        }
        Ok(())
    }

    /// Puts all rows of a table in bulk, from two streams.
    fn load(
        &self,
        table: &str,
        rows: impl Fn(Range<u64>) -> Result<RecordBatch> + Clone + Send + 'static,
    ) -> Result<()> {
        let (all, half) = (self.options.table_rows, self.options.table_rows / 2);
        let source = |places: Range<u64>| {
            Box::new(Rows { places, make: rows.clone() }) as Box<dyn RowSource>
        };
        let done = self.system.bulk_put_rows(
            table,
            vec![source(0..half), source(half..all)],
            &self.bulk_options(),
        )?;
        if done.rows == all {
            Ok(())
        } else {
            Err(Error::internal(format!("{} of {all} rows of {table} went in", done.rows)))
        }
    }

    /// Keys in no order, by a bulk get, and in a list: of a plain query, and of one that has to be
    /// planned.
    fn list(&self, shape: &Shape) -> Result<Contest<'a>> {
        let count = self.options.list_keys;
        let order = Permutation::new(self.options.table_rows, 1);
        let places = || (0..count).map(|number| order.at(number));
        let list = places().map(|place| shape.key_literal(place)).collect::<Vec<_>>().join(", ");
        let question = |selected: &str| Question {
            statement: format!(
                "SELECT {selected} FROM {WIDE} WHERE {} IN ({list})",
                shape.key_name()
            ),
            expected: Sums::of(places().map(|place| shape.numbers_of(place))),
        };
        let planned = Question {
            expected: Sums { numbers: 0.0, ..question("").expected },
            ..question("upper(name)")
        };
        let keys = shape.keys(places())?;
        let (system, options) = (self.system, self.bulk_options());
        let get = move |questions: &[Question]| {
            let BulkDone { rows, .. } = system.bulk_get_rows(
                WIDE,
                Box::new(std::iter::once(keys.clone())),
                &[],
                &options,
            )?;
            Sums { rows, ..questions[0].expected }.check(&questions[0].expected, "a bulk get")
        };
        let mut in_plan = QueryWay::one_by_one("list, planned", system)?;
        let in_plan =
            QueryWay::new("list, planned", move |_| (in_plan.ask)(std::slice::from_ref(&planned)));
        Ok(Contest {
            subject: Subject::List,
            name: format!(
                "keys: {} of {} rows",
                whole(count as f64),
                whole(self.options.table_rows as f64)
            ),
            size: None,
            rounds: vec![vec![question("*")]],
            rows: count,
            ways: vec![
                QueryWay::new("bulk get", get),
                QueryWay::one_by_one("list", system)?,
                in_plan,
            ],
        })
    }

    /// Two aggregates over everything, whose results add up to the numbers of all rows.
    fn scan(&self, table: &str, aggregates: &str, numbers: fn(u64) -> f64) -> Result<Contest<'a>> {
        let rows = self.options.table_rows;
        let total =
            if self.options.wants(Subject::Scan) { (0..rows).map(numbers).sum() } else { 0.0 };
        let statement = format!("SELECT {aggregates} FROM {table}");
        Ok(Contest {
            subject: Subject::Scan,
            name: format!("scan: {aggregates} of {} {table} rows", whole(rows as f64)),
            size: None,
            rounds: vec![vec![Question { statement, expected: Sums { rows: 1, numbers: total } }]],
            rows,
            ways: vec![QueryWay::one_by_one("query", self.system)?],
        })
    }

    /// A condition that one row of a hundred meets, before there is an index on its column and
    /// after.
    fn index(&self, shape: &Shape, report: &mut Report) -> Result<()> {
        let rows = self.options.table_rows;
        let places = (0..rows).filter(|place| ONE_PERCENT.contains(&count_of(*place)));
        let expected = Sums::of(places.map(|place| shape.numbers_of(place)));
        let condition = format!("count BETWEEN {} AND {}", ONE_PERCENT.start, ONE_PERCENT.end - 1);
        let statement = format!("SELECT * FROM {WIDE} WHERE {condition}");
        let contest = |way: &str| -> Result<Contest<'a>> {
            Ok(Contest {
                subject: Subject::Index,
                name: format!(
                    "index: {} of {} rows",
                    whole(expected.rows as f64),
                    whole(rows as f64)
                ),
                size: None,
                rounds: vec![vec![Question { statement: statement.clone(), expected }]],
                rows: expected.rows,
                ways: vec![QueryWay::one_by_one(way, self.system)?],
            })
        };
        self.hold(contest("without index")?, report)?;
        self.system.define(&format!("CREATE INDEX by_count ON {WIDE} (count)"))?;
        self.system.settle()?;
        report.notes.push(format!(
            "{}: with the index, EXPLAIN says of the condition: {}",
            self.system.name(),
            self.explained(&statement)?
        ));
        self.hold(contest("with index")?, report)
    }

    /// The line of a plan that tells what the store is asked for.
    fn explained(&self, statement: &str) -> Result<String> {
        let mut text = String::new();
        self.system.client()?.query(&format!("EXPLAIN {statement}"), &mut |batch| {
            let plans = batch
                .columns()
                .last()
                .and_then(|column| column.as_any().downcast_ref::<StringArray>());
            plans
                .into_iter()
                .flat_map(|plans| plans.iter().flatten())
                .for_each(|plan| text += plan);
            Ok(())
        })?;
        let asked = text.lines().rfind(|line| line.contains("Store"));
        Ok(asked.unwrap_or("nothing of the store").trim().to_owned())
    }
}

/// The rows at some places, batch after batch.
struct Rows<M> {
    places: Range<u64>,
    make: M,
}

impl<M: Fn(Range<u64>) -> Result<RecordBatch> + Send> RowSource for Rows<M> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let first = self.places.start;
        self.places.start = self.places.end.min(first + BATCH_ROWS as u64);
        if first == self.places.start {
            Ok(None)
        } else {
            (self.make)(first..self.places.start).map(Some)
        }
    }
}

/// Rows of two numbers.
fn numbers(places: Range<u64>) -> Result<RecordBatch> {
    let ids = Int64Array::from_iter_values(places.clone().map(|place| place as i64));
    let counts = Int64Array::from_iter_values(places.map(count_of));
    batch(vec![("id", Arc::new(ids)), ("count", Arc::new(counts))])
}
