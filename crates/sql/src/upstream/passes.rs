//! Passes over a plan, and the check that a table of them fits DataFusion.

use std::sync::Arc;

use datafusion::common::{DataFusionError, Result};
use datafusion::optimizer::{AnalyzerRule, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use tonnage::Error;

use crate::errors::into_datafusion;

pub(super) type Analyzing = dyn AnalyzerRule + Send + Sync;
pub(super) type Optimizing = dyn OptimizerRule + Send + Sync;
pub(super) type Physical = dyn PhysicalOptimizerRule + Send + Sync;

/// One pass of a table.
pub(super) struct Pass<R: ?Sized> {
    pub(super) name: &'static str,
    step: Step<R>,
    /// Why it is there, and why here.
    pub(super) why: &'static str,
}

enum Step<R: ?Sized> {
    /// A rule of DataFusion, as it is.
    Kept,
    /// A rule of DataFusion that is left out.
    Removed,
    /// A rule of our own instead of the one of DataFusion that has the same name.
    Replaced(fn() -> Arc<R>),
    /// A rule of our own.
    Own(fn() -> Arc<R>),
    /// A rule of our own, for sessions that push work down into reads.
    OwnForReads(fn() -> Arc<R>),
}

impl<R: ?Sized> Pass<R> {
    pub(super) const fn kept(name: &'static str) -> Self {
        Self { name, step: Step::Kept, why: "" }
    }

    pub(super) const fn removed(name: &'static str, why: &'static str) -> Self {
        Self { name, step: Step::Removed, why }
    }

    pub(super) const fn replaced(
        name: &'static str,
        make: fn() -> Arc<R>,
        why: &'static str,
    ) -> Self {
        Self { name, step: Step::Replaced(make), why }
    }

    pub(super) const fn own(name: &'static str, make: fn() -> Arc<R>, why: &'static str) -> Self {
        Self { name, step: Step::Own(make), why }
    }

    pub(super) const fn own_for_reads(
        name: &'static str,
        make: fn() -> Arc<R>,
        why: &'static str,
    ) -> Self {
        Self { name, step: Step::OwnForReads(make), why }
    }
}

/// A rule with a name.
pub(super) trait NamedRule {
    fn rule_name(&self) -> &str;
}

impl NamedRule for Analyzing {
    fn rule_name(&self) -> &str {
        self.name()
    }
}

impl NamedRule for Optimizing {
    fn rule_name(&self) -> &str {
        self.name()
    }
}

impl NamedRule for Physical {
    fn rule_name(&self) -> &str {
        self.name()
    }
}

/// The rules of a table, of which DataFusion gives `theirs`.
///
/// # Errors
/// When DataFusion has other rules, or has them in another order, than the table says.
pub(super) fn arranged<R: NamedRule + ?Sized>(
    table: &[Pass<R>],
    theirs: Vec<Arc<R>>,
    pushes_down: bool,
) -> Result<Vec<Arc<R>>> {
    let mut theirs = theirs.into_iter();
    let mut rules = Vec::with_capacity(table.len());
    for pass in table {
        match pass.step {
            Step::Kept => rules.push(next_of(&mut theirs, pass)?),
            Step::Removed => drop(next_of(&mut theirs, pass)?),
            Step::Replaced(make) => {
                next_of(&mut theirs, pass)?;
                rules.push(make());
            }
            Step::Own(make) => rules.push(make()),
            Step::OwnForReads(make) if pushes_down => rules.push(make()),
            Step::OwnForReads(_) => {}
        }
    }
    match theirs.next() {
        None => Ok(rules),
        Some(rule) => Err(misfit(&format!("it has {} at the end", rule.rule_name()))),
    }
}

/// The next rule of DataFusion, which must be the one of this pass.
fn next_of<R: NamedRule + ?Sized>(
    theirs: &mut impl Iterator<Item = Arc<R>>,
    pass: &Pass<R>,
) -> Result<Arc<R>> {
    let Pass { name, why, .. } = pass;
    match theirs.next() {
        Some(rule) if rule.rule_name() == *name => Ok(rule),
        Some(rule) => {
            Err(misfit(&format!("it has {} in the place of {name}. {why}", rule.rule_name())))
        }
        None => Err(misfit(&format!("it lacks {name}. {why}"))),
    }
}

fn misfit(what: &str) -> DataFusionError {
    into_datafusion(Error::internal(format!(
        "DataFusion {} has other rules than the tables of passes name: {what}",
        datafusion::DATAFUSION_VERSION
    )))
}

#[cfg(test)]
impl<R: ?Sized> Pass<R> {
    /// The rule of our own, if this pass has one.
    pub(super) fn made(&self) -> Option<Arc<R>> {
        match self.step {
            Step::Replaced(make) | Step::Own(make) | Step::OwnForReads(make) => Some(make()),
            Step::Kept | Step::Removed => None,
        }
    }
}
