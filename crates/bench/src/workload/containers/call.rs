//! Rows in and out: all in one call, or one by one.

use tonnage::{Error, Result};

use super::rows::{Containers, Shape};
use super::{ContainersOptions, Size, Subject, summary};
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::report::Run;
use crate::target::{BulkDone, BulkOptions, Client, Target};
use crate::workload::one_by_one::one_by_one;

/// One by one, or all in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Single,
    Multi,
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Single => "one by one",
            Method::Multi => "one call",
        }
    }
}

/// What is measured: so many containers, in or out, one by one or all at once.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) options: &'a ContainersOptions,
    pub(super) target: &'a dyn Target,
    pub(super) watcher: &'a dyn Watcher,
    pub(super) size: Size,
    /// [`Subject::Put`] or [`Subject::Get`].
    pub(super) subject: Subject,
    pub(super) method: Method,
}

impl Call<'_> {
    pub(super) fn run(&self) -> Result<Run> {
        let case = summary::case_name(self.subject, self.size);
        let name = summary::run_name(&case, self.method.name());
        let repeats = (0..self.options.repeats)
            .map(|repeat| self.repeat(&name, repeat))
            .collect::<Result<Vec<_>>>()?;
        let labels = summary::labels(self.subject, &case, self.method.name(), Some(self.size));
        Ok(Run::from_repeats(&name, labels, self.target, 1, repeats))
    }

    fn repeat(&self, name: &str, repeat: usize) -> Result<Measured> {
        let Size { containers, rows } = self.size;
        let method = if self.method == Method::Single { "single" } else { "multi" };
        let prefix = format!("{}_{method}_{containers}_{rows}_{repeat}", self.subject);
        let containers = Containers::new(&Shape::new(self.options.key), &prefix, self.size);
        containers.define(self.target)?;
        if self.subject == Subject::Get {
            self.target.multi_put(containers.batches()?, &self.bulk_options(&|_, _| {}))?;
        }
        let plan = MeasurePlan {
            phase: format!("{} {name}", self.target.name()),
            operations: vec![if self.subject == Subject::Put { "PUT" } else { "GET" }],
            total: Some(containers.rows()),
            ..MeasurePlan::default()
        };
        measure(&plan, self.target, self.watcher, |meter| match self.method {
            Method::Single => self.one_by_one(meter, &containers),
            Method::Multi => self.at_once(meter, &containers),
        })
    }

    fn one_by_one(&self, meter: &Meter<'_>, containers: &Containers) -> Result<()> {
        let durability = self.options.durability;
        let each = |client: &mut dyn Client, number| {
            let (name, place) = (containers.name(number), containers.place(number));
            if self.subject == Subject::Put {
                return client.put_row(name, &containers.shape.row(place), durability);
            }
            match client.get_rows(name, &containers.shape.key(place), &[])? {
                1 => Ok(()),
                found => Err(Error::internal(format!("a key of {name} finds {found} rows"))),
            }
        };
        one_by_one(meter, self.target, 1, containers.rows(), each)
    }

    fn at_once(&self, meter: &Meter<'_>, containers: &Containers) -> Result<()> {
        let progress = |rows, bytes| meter.add(rows, bytes);
        let options = self.bulk_options(&progress);
        let BulkDone { rows, .. } = match self.subject {
            Subject::Put => self.target.multi_put(containers.batches()?, &options)?,
            _ => self.target.multi_get(containers.keys()?, &options)?,
        };
        if rows != containers.rows() {
            meter.fail(
                rows.abs_diff(containers.rows()),
                &format!("{rows} of {} rows went by", containers.rows()),
            );
        }
        Ok(())
    }

    fn bulk_options<'p>(&self, progress: &'p (dyn Fn(u64, u64) + Sync)) -> BulkOptions<'p> {
        BulkOptions {
            durability: self.options.durability,
            memory_bytes_max: None,
            parallelism: None,
            overwrite: false,
            progress,
        }
    }
}
