//! Queries over large tables: a list of keys, aggregates over everything, and a condition with and
//! without an index.

use std::ops::Range;

use tonnage::arrow::array::StringArray;
use tonnage::{Error, Result};

use super::call::TableSession;
use super::contest::{Contest, QueryWay, one_by_one};
use super::options::Subject;
use super::question::{Question, Sums, ask_one_by_one};
use super::rows::{COUNTS, Shape, count_of};
use crate::generate::Permutation;
use crate::report::Report;
use crate::report::format::whole;
use crate::system::{GetKeys, PutInput, Rows};
use crate::workload::columns::{Column, NamedColumn, batches};
use crate::workload::loops::split;

/// Of the rows of tables.
const WIDE: &str = "wide";
/// Of two numbers.
const NARROW: &str = "narrow";
/// The counts that one row of a hundred has.
const ONE_PERCENT: Range<i64> = 500..500 + COUNTS / 100;

impl<'a> TableSession<'a> {
    pub(super) fn beside(&self, report: &mut Report) -> Result<()> {
        let shape = Shape::new(self.options.key);
        shape.define(self.system, WIDE)?;
        self.load(WIDE, &shape.columns)?;
        if self.options.wants(Subject::Scan) {
            let columns = "id LONG, count LONG, PRIMARY KEY (id)";
            self.system.define(&format!("CREATE TABLE {NARROW} ({columns})"))?;
            let columns =
                [("id", Column::Long(|place| place as i64)), ("count", Column::Long(count_of))];
            self.load(NARROW, &columns)?;
        }
        self.system.settle()?;
        self.list(&shape)?.hold(self, report)?;
        let narrow = |place| place as f64 + count_of(place) as f64;
        self.scan(NARROW, "sum(id), sum(count)", narrow).hold(self, report)?;
        let wide = |place| 1.0 + count_of(place) as f64;
        self.scan(WIDE, "sum(count), count(status)", wide).hold(self, report)?;
        if self.options.wants(Subject::Index) {
            self.index(&shape, report)?;
        }
        Ok(())
    }

    /// Puts all rows of a table in bulk, from two streams.
    fn load(&self, table: &'static str, columns: &[NamedColumn]) -> Result<()> {
        let all = self.options.table_rows;
        let rows = split(0..all, 2).map(|places| batches(columns, places)).collect();
        let input = PutInput::Rows(table, rows);
        let done = self.system.bulk_put(input, &self.bulk_options())?;
        if done.rows == all {
            return Ok(());
        }
        Err(Error::internal(format!("{} of {all} rows of {table} went in", done.rows)))
    }

    /// Keys in no order, by a bulk get, and in a list: of a plain query, and of one that has to be
    /// planned.
    fn list(&self, shape: &Shape) -> Result<Contest<'a>> {
        let count = self.options.list_keys;
        let order = Permutation::new(self.options.table_rows, 1);
        let places = || (0..count).map(|number| order.at(number));
        let list = places().map(|place| shape.key_literal(place)).collect::<Vec<_>>().join(", ");
        let key = shape.key.name();
        let question = |selected: &str| Question {
            statement: format!("SELECT {selected} FROM {WIDE} WHERE {key} IN ({list})"),
            expected: Sums::of(places().map(|place| shape.numbers_of(place))),
        };
        let planned = Question {
            // The answer is texts alone: there are no numbers to add up.
            expected: Sums { numbers: 0.0, ..question("").expected },
            ..question("upper(name)")
        };
        let keys = shape.keys(places())?;
        let (system, options) = (self.system, self.bulk_options());
        // A bulk get gives whole rows, so their number alone is held against the answer.
        let get = move |questions: &[Question]| {
            let keys: Rows = Box::new(std::iter::once(Ok(keys.clone())));
            let rows = system.bulk_get(GetKeys::Rows(WIDE, keys, &[]), &options)?.rows;
            Sums { rows, ..questions[0].expected }.check(&questions[0].expected, "a bulk get")
        };
        let in_plan = move |_: &[Question]| ask_one_by_one(system, std::slice::from_ref(&planned));
        let (keys, rows) = (whole(count as f64), whole(self.options.table_rows as f64));
        let ways: Vec<QueryWay<'a>> = vec![
            ("bulk get", Box::new(get)),
            one_by_one("list", system),
            ("list, planned", Box::new(in_plan)),
        ];
        let name = format!("keys: {keys} of {rows} rows");
        Ok(Contest::new(Subject::List, name, question("*"), count, ways))
    }

    /// Two aggregates over everything, whose results add up to the numbers of all rows.
    fn scan(&self, table: &str, aggregates: &str, numbers: fn(u64) -> f64) -> Contest<'a> {
        let rows = self.options.table_rows;
        let total =
            if self.options.wants(Subject::Scan) { (0..rows).map(numbers).sum() } else { 0.0 };
        let statement = format!("SELECT {aggregates} FROM {table}");
        let name = format!("scan: {aggregates} of {} {table} rows", whole(rows as f64));
        let question = Question { statement, expected: Sums { rows: 1, numbers: total } };
        let ways = vec![one_by_one("query", self.system)];
        Contest::new(Subject::Scan, name, question, rows, ways)
    }

    /// A condition that one row of a hundred meets, before there is an index on its column and
    /// after.
    fn index(&self, shape: &Shape, report: &mut Report) -> Result<()> {
        let all = self.options.table_rows;
        let places = (0..all).filter(|place| ONE_PERCENT.contains(&count_of(*place)));
        let expected = Sums::of(places.map(|place| shape.numbers_of(place)));
        let condition = format!("count BETWEEN {} AND {}", ONE_PERCENT.start, ONE_PERCENT.end - 1);
        let statement = format!("SELECT * FROM {WIDE} WHERE {condition}");
        let (rows, all) = (whole(expected.rows as f64), whole(all as f64));
        let contest = |way: &'static str| {
            let name = format!("index: {rows} of {all} rows");
            let question = Question { statement: statement.clone(), expected };
            let ways = vec![one_by_one(way, self.system)];
            Contest::new(Subject::Index, name, question, expected.rows, ways)
        };
        contest("without index").hold(self, report)?;
        self.system.define(&format!("CREATE INDEX by_count ON {WIDE} (count)"))?;
        self.system.settle()?;
        report.note(format!(
            "{}: with the index, EXPLAIN says of the condition: {}",
            self.system.name(),
            self.explained(&statement)?
        ));
        contest("with index").hold(self, report)
    }

    /// The line of a plan that says what the store is asked for.
    fn explained(&self, statement: &str) -> Result<String> {
        let mut text = String::new();
        self.system.query(&format!("EXPLAIN {statement}"), &mut |batch| {
            let plans = batch.columns().last().map(|column| column.as_any());
            let plans = plans.and_then(|plans| plans.downcast_ref::<StringArray>());
            plans.into_iter().flatten().flatten().for_each(|plan| text += plan);
            Ok(())
        })?;
        let asked = text.lines().rfind(|line| line.contains("Store"));
        Ok(asked.unwrap_or("nothing of the store").trim().to_owned())
    }
}
