//! Rows in and out: all in one call, or one by one.

use tonnage::{Error, Result};

use super::options::{Size, Subject, TablesOptions};
use super::rows::{Shape, SmallTables};
use super::summary::TableCase;
use crate::choice::choice;
use crate::measure::{MeasurePlan, Measured, Meter, measure};
use crate::report::Run;
use crate::system::{BulkOptions, Client, GetKeys, PutInput, System};
use crate::workload::harness::BenchRun;
use crate::workload::loops::one_by_one;

choice! {
    pub(super) enum TableMethod {
        Single = "one by one",
        Multi = "one call",
    }
}

/// One system under test.
#[derive(Clone, Copy)]
pub(super) struct TableSession<'a> {
    pub(super) options: &'a TablesOptions,
    pub(super) system: &'a dyn System,
    pub(super) harness: BenchRun<'a>,
}

impl TableSession<'_> {
    pub(super) fn bulk_options(&self) -> BulkOptions<'static> {
        BulkOptions::quiet(self.options.run.durability)
    }
}

/// What is measured: so many tables, in or out, one by one or all at once.
pub(super) struct TableCall<'a> {
    pub(super) session: &'a TableSession<'a>,
    pub(super) size: Size,
    /// [`Subject::Put`] or [`Subject::Get`].
    pub(super) subject: Subject,
    pub(super) method: TableMethod,
}

impl TableCall<'_> {
    pub(super) fn run(&self) -> Result<Run> {
        let case = TableCase::of_rows(self.subject, self.size);
        let name = case.run_name(self.method.name());
        let repeats = self.session.harness.repeats(|repeat| self.repeat(&name, repeat))?;
        Ok(case.run(self.method.name(), self.session.system, repeats))
    }

    fn repeat(&self, name: &str, repeat: usize) -> Result<Measured> {
        let TableSession { options, system, harness } = self.session;
        let Size { tables, rows } = self.size;
        let method = if self.method == TableMethod::Single { "single" } else { "multi" };
        let prefix = format!("{}_{method}_{tables}_{rows}_{repeat}", self.subject.name());
        let tables = SmallTables::new(&Shape::new(options.key), &prefix, self.size);
        tables.define(*system)?;
        if self.subject == Subject::Get {
            let input = PutInput::Tables(tables.batches()?);
            system.bulk_put(input, &self.session.bulk_options())?;
        }
        let plan = MeasurePlan {
            phase: format!("{} {name}", system.name()),
            operations: vec![if self.subject == Subject::Put { "PUT" } else { "GET" }],
            total: Some(tables.rows()),
            ..MeasurePlan::default()
        };
        measure(&plan, &|| system.gauges(), harness.watcher, |meter| match self.method {
            TableMethod::Single => self.one_by_one(meter, &tables),
            TableMethod::Multi => self.at_once(meter, &tables),
        })
    }

    fn one_by_one(&self, meter: &Meter<'_>, tables: &SmallTables) -> Result<()> {
        let durability = self.session.options.run.durability;
        let each = |client: &mut dyn Client, number| {
            let (name, place) = (tables.name(number), tables.place(number));
            if self.subject == Subject::Put {
                return client.put_row(name, &tables.shape.row(place), durability);
            }
            match client.get_rows(name, &tables.shape.key(place), &[])? {
                1 => Ok(()),
                found => Err(Error::internal(format!("a key of {name} finds {found} rows"))),
            }
        };
        one_by_one(meter, self.session.system, 1, tables.rows(), each)
    }

    fn at_once(&self, meter: &Meter<'_>, tables: &SmallTables) -> Result<()> {
        let progress = |rows, bytes| meter.add(rows, bytes);
        let TableSession { options, system, .. } = self.session;
        let options = BulkOptions::new(options.run.durability, &progress);
        let done = match self.subject {
            Subject::Put => system.bulk_put(PutInput::Tables(tables.batches()?), &options)?,
            _ => system.bulk_get(GetKeys::Tables(tables.keys()?), &options)?,
        };
        meter.expect("rows that went by", tables.rows(), done.rows);
        Ok(())
    }
}
