//! The directory that a test works in, and the processes that work there.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::child::{self, ProcessResult};
use crate::fallible::Fallible;
use crate::judge::Loss;
use crate::workload_kind::WorkloadKind;

/// The library that records and fails calls.
const SHIM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shim.so"));

/// A process that takes longer hangs. Generous: machines are shared.
const LONGEST: Duration = Duration::from_secs(300);

/// A directory for one test, deleted at its end.
pub(crate) struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a working process is to do, and what is to go wrong meanwhile.
pub(crate) struct WorkOptions<'a> {
    pub(crate) kind: &'a WorkloadKind,
    pub(crate) seed: u64,
    pub(crate) millis: u64,
    pub(crate) round: i64,
    pub(crate) ledger_bytes_max: u64,
    pub(crate) is_traced: bool,
    pub(crate) fault: Option<String>,
}

impl Scratch {
    pub(crate) fn make(parent: &Path, name: &str) -> Fallible<Self> {
        Self::at(&parent.join(format!("torture-{name}-{}", std::process::id())))
    }

    /// The directory of this path, which must be unused.
    pub(crate) fn at(directory: &Path) -> Fallible<Self> {
        if directory.exists() {
            return Err(format!("{}: it is there already", directory.display()).into());
        }
        fs::create_dir_all(directory)?;
        // The shim compares paths, so they must be free of links.
        let scratch = Self(fs::canonicalize(directory)?);
        fs::write(scratch.path("shim.so"), SHIM)?;
        scratch.clear()?;
        Ok(scratch)
    }

    /// The command that judges a state that was kept, where it was: a store remembers where its
    /// data directories are.
    pub(crate) fn command_to_judge(&self, loss: Loss) -> String {
        let (base, parent, loss) = (self.base(), self.0.display(), loss.name());
        let base = base.display();
        let copy = format!("mkdir {parent} && cp -r STATE/state {base}");
        format!("{copy} && torture judge {base}/store STATE/ledger {loss}")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Holds the store and its data directories; everything below is recorded and can be rebuilt.
    pub(crate) fn base(&self) -> PathBuf {
        self.path("base")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.base().join("store")
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.path("ledger")
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.path("trace")
    }

    /// Begins anew, with an empty base and no ledger.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.clear_base()?;
        for file in [self.ledger(), self.trace(), self.path("counts")] {
            remove_if_there(&file)?;
        }
        fs::create_dir(self.base())
    }

    pub(crate) fn clear_base(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.base()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// A process of this program under the shim, which passes on no fsync.
    pub(crate) fn shimmed(&self, verb: &str) -> Fallible<Command> {
        let mut command = child::myself(verb)?;
        command.env("LD_PRELOAD", self.path("shim.so")).env("TORTURE_BASE", self.base());
        Ok(command)
    }

    pub(crate) fn work(&self, work: &WorkOptions<'_>) -> Fallible<ProcessResult> {
        let mut command = self.work_command(work)?;
        child::run(&mut command, LONGEST)
    }

    /// The same, killed after a while.
    pub(crate) fn work_for(
        &self,
        work: &WorkOptions<'_>,
        life: Duration,
    ) -> Fallible<ProcessResult> {
        let mut command = self.work_command(work)?;
        child::run(&mut command, life)
    }

    fn work_command(&self, work: &WorkOptions<'_>) -> Fallible<Command> {
        let mut command = self.shimmed("work")?;
        command.arg(self.store()).arg(self.ledger()).arg(work.kind.name());
        command.arg(work.seed.to_string()).arg(work.millis.to_string());
        command.arg(work.round.to_string()).arg(work.ledger_bytes_max.to_string());
        command.env("TORTURE_LEDGER", self.ledger()).env("TORTURE_COUNTS", self.path("counts"));
        if work.is_traced {
            command.env("TORTURE_TRACE", self.trace());
        }
        if let Some(fault) = &work.fault {
            command.env("TORTURE_FAULT", fault);
        }
        Ok(command)
    }

    /// What is wrong with the store in the base, or with a checkpoint beside it.
    pub(crate) fn judge(&self, loss: Loss, checkpoint: Option<i64>) -> Fallible<Vec<String>> {
        let store = match checkpoint {
            None => self.store(),
            Some(number) => self.base().join(format!("checkpoint{number}")),
        };
        let mut command = self.shimmed("judge")?;
        command.arg(store).arg(self.ledger()).arg(loss.name());
        command.args(checkpoint.map(|number| number.to_string()));
        Ok(child::run(&mut command, LONGEST)?.answer())
    }

    /// What is wrong with checkpoints beside the store.
    pub(crate) fn judge_checkpoints(&self, loss: Loss, numbers: &[i64]) -> Fallible<Vec<String>> {
        let mut complaints = Vec::new();
        for number in numbers {
            let found = self.judge(loss, Some(*number))?;
            complaints.extend(found.into_iter().map(|text| format!("CHECKPOINT {number}: {text}")));
        }
        Ok(complaints)
    }

    /// A line that a kill cut short would run into the next one.
    pub(crate) fn truncate_ledger(&self) -> io::Result<Vec<u8>> {
        let mut bytes = if self.ledger().exists() { fs::read(self.ledger())? } else { Vec::new() };
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(end);
        fs::write(self.ledger(), &bytes)?;
        Ok(bytes)
    }

    /// The number of calls of a class by the last working process; `hits` are those that were
    /// failed on purpose.
    pub(crate) fn calls(&self, class: &str) -> u64 {
        let counts = fs::read_to_string(self.path("counts")).unwrap_or_default();
        let mut lines = counts.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(name, _)| *name == class);
        found.and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Shows how far a test is, on standard error.
pub(crate) fn progress(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{text}");
}
