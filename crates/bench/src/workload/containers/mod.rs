//! `bench containers`: many small tables in one call, against one by one.
//!
//! 1. Put: ten thousand rows of one container, ten thousand and a hundred thousand of each of ten,
//!    mixed as they come in from a queue: a loop of single puts, and one multi put. New containers
//!    for each repeat.
//! 2. Get: rows by their keys: a loop of single gets, and one multi get.
//! 3. Queries over ten and a hundred containers, and over a large table beside them: see `queries`.

mod call;
mod options;
mod queries;
mod rows;
mod subject;
mod summary;
#[cfg(test)]
mod tests;

use tonnage::Result;

use self::call::{Call, Method};
use self::options::Size;
pub use self::options::{ContainerKey, ContainersOptions};
use self::queries::Queries;
pub use self::subject::Subject;
use crate::measure::{Environment, Watcher};
use crate::report::Report;
use crate::target::{Feature, TargetKind, TargetSpec};

/// Measures what is wanted on each target.
///
/// # Errors
/// `Invalid` for options that do not fit together, and what stops a target as a whole.
pub fn run(options: &ContainersOptions, watcher: &dyn Watcher) -> Result<Report> {
    options.check()?;
    let environment =
        Environment::read(&[(options.place.label.clone(), options.place.directory.clone())]);
    let mut report =
        Report::new("containers", &options.command, summary::settings(options), environment);
    for kind in &options.targets {
        let first = report.runs.len();
        run_target(options, *kind, &mut report, watcher)?;
        report.runs[first..].sort_by_key(|run| {
            Subject::ALL.iter().position(|subject| subject.name() == run.labels["subject"])
        });
    }
    summary::add_to(&mut report);
    Ok(report)
}

fn run_target(
    options: &ContainersOptions,
    kind: TargetKind,
    report: &mut Report,
    watcher: &dyn Watcher,
) -> Result<()> {
    let scratch = options.place.scratch(&format!("containers-{}", kind.name()))?;
    let spec = TargetSpec {
        memory_bytes: options.memory_bytes,
        direct_io: options.direct_io,
        ..TargetSpec::new(kind, scratch.path())
    };
    let target = spec.open()?;
    if !target.offers(Feature::MultiTable) {
        report.notes.push(format!(
            "{} does not offer calls over several tables: it was left out.",
            kind.name()
        ));
        return Ok(());
    }
    for (subject, sizes) in
        [(Subject::Put, options.put_sizes()), (Subject::Get, options.get_sizes())]
    {
        for size in sizes.into_iter().filter(|_| options.wants(subject)) {
            for method in [Method::Single, Method::Multi] {
                if !watcher.is_cancelled() {
                    report.runs.push(
                        Call { options, target: &*target, watcher, size, subject, method }.run()?,
                    );
                }
            }
        }
    }
    if target.offers(Feature::Queries) {
        Queries { options, target: &*target, watcher }.run(report)
    } else {
        report.notes.push(format!("{} does not offer queries: they were left out.", kind.name()));
        Ok(())
    }
}
