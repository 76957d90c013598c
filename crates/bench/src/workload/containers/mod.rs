//! `bench containers`: rows of many small tables in one call, against one by one.
//!
//! 1. Put: ten thousand rows of one container, and ten thousand of each of ten, mixed as they come in from a queue: a loop of single
//!    puts, and one multi put. New containers for each repeat.
//! 2. Get: all of these rows by their keys: a loop of single gets, and one multi get.
//! 3. Queries: see `queries.rs`.

mod options;
mod queries;
mod rows;
mod summary;
#[cfg(test)]
mod tests;

use tonnage::{Error, Result};

pub use options::{ContainerKey, ContainersOptions};

use self::rows::Containers;
use crate::measure::{Environment, MeasurePlan, Measured, Meter, Watcher, measure};
use crate::report::{Report, Run};
use crate::target::{BulkDone, BulkOptions, Client, Feature, Target, TargetKind, TargetSpec};
use crate::workload::one_by_one::one_by_one;

/// Measures each number of containers on each target.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a target as a whole.
pub fn run(options: &ContainersOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let environment = Environment::read(&[(options.place.label.clone(), options.place.directory.clone())]);
    let mut report = Report::new("containers", &options.command, summary::settings(options), environment);
    for kind in &options.targets {
        run_target(options, *kind, &mut report, watcher)?;
    }
    summary::add_to(&mut report, options);
    Ok(report)
}

fn run_target(options: &ContainersOptions, kind: TargetKind, report: &mut Report, watcher: &dyn Watcher) -> Result<()> {
    let scratch = options.place.scratch(&format!("containers-{}", kind.name()))?;
    let spec =
        TargetSpec { memory_bytes: options.memory_bytes, direct_io: options.direct_io, ..TargetSpec::new(kind, scratch.path()) };
    let target = spec.open()?;
    if !target.offers(Feature::MultiTable) {
        report.notes.push(format!("{} does not offer calls over several tables: it was left out.", kind.name()));
        return Ok(());
    }
    for count in options.counts() {
        for phase in [Phase::Put, Phase::Get] {
            for method in [Method::Single, Method::Multi] {
                if !watcher.is_cancelled() {
                    let case = Case { options, target: &*target, watcher, count, phase, method };
                    report.runs.push(case.run()?);
                }
            }
        }
    }
    queries::note_missing(&*target, report);
    Ok(())
}

/// In or out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Put,
    Get,
}

/// One by one, or all in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Single,
    Multi,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Phase::Put => "put",
            Phase::Get => "get",
        }
    }
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Single => "single",
            Method::Multi => "multi",
        }
    }
}

/// What is measured: so many containers, in or out, one by one or all at once.
#[derive(Clone, Copy)]
struct Case<'a> {
    options: &'a ContainersOptions,
    target: &'a dyn Target,
    watcher: &'a dyn Watcher,
    count: usize,
    phase: Phase,
    method: Method,
}

impl Case<'_> {
    fn run(&self) -> Result<Run> {
        let name = summary::run_name(self.count, self.phase, self.method);
        let repeats = (0..self.options.repeats).map(|repeat| self.repeat(&name, repeat)).collect::<Result<Vec<_>>>()?;
        let labels =
            [("containers", self.count.to_string()), ("phase", self.phase.name().into()), ("method", self.method.name().into())];
        let labels = labels.map(|(name, value)| (name.to_owned(), value)).into();
        Ok(Run::from_repeats(&name, labels, self.target, 1, repeats))
    }

    fn repeat(&self, name: &str, repeat: usize) -> Result<Measured> {
        let prefix = format!("{}_{}_{}_{repeat}", self.phase.name(), self.method.name(), self.count);
        let containers = Containers::new(self.options, &prefix, self.count);
        containers.define(self.target)?;
        if self.phase == Phase::Get {
            self.target.multi_put(containers.batches()?, &self.bulk_options(&|_, _| {}))?;
        }
        let plan = MeasurePlan {
            phase: format!("{} {name}", self.target.name()),
            operations: vec![if self.phase == Phase::Put { "PUT" } else { "GET" }],
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
        let each = |client: &mut dyn Client, number| match self.phase {
            Phase::Put => client.put_row(containers.name(number), &containers.row(number), durability),
            Phase::Get => match client.get_rows(containers.name(number), &containers.key(number), &[])? {
                1 => Ok(()),
                found => Err(Error::internal(format!("a key of {} finds {found} rows", containers.name(number)))),
            },
        };
        one_by_one(meter, self.target, 1, containers.rows(), each)
    }

    fn at_once(&self, meter: &Meter<'_>, containers: &Containers) -> Result<()> {
        let progress = |rows, bytes| meter.add(rows, bytes);
        let options = self.bulk_options(&progress);
        let BulkDone { rows, .. } = match self.phase {
            Phase::Put => self.target.multi_put(containers.batches()?, &options)?,
            Phase::Get => self.target.multi_get(containers.keys()?, &options)?,
        };
        if rows != containers.rows() {
            meter.fail(rows.abs_diff(containers.rows()), &format!("{rows} of {} rows went by", containers.rows()));
        }
        Ok(())
    }

    fn bulk_options<'p>(&self, progress: &'p (dyn Fn(u64, u64) + Sync)) -> BulkOptions<'p> {
        BulkOptions { durability: self.options.durability, memory_bytes_max: None, parallelism: None, overwrite: false, progress }
    }
}
