//! The options of the tests.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::fallible::Fallible;
use crate::readers::sample::ReaderKind;
use crate::replay::Model;
use crate::workload_kind::WorkloadKind;

/// How to torture. A test ignores options that it has no use for.
#[derive(Clone)]
pub(crate) struct TortureOptions {
    pub(crate) seed: u64,
    /// How many units of work: traced runs, faults, damaged copies, killed stores, rounds.
    pub(crate) runs: Option<u64>,
    pub(crate) seconds: Option<u64>,
    pub(crate) cuts: usize,
    pub(crate) millis: u64,
    pub(crate) ledger_bytes_max: u64,
    pub(crate) kinds: Vec<WorkloadKind>,
    pub(crate) models: Vec<Model>,
    pub(crate) fault: Option<String>,
    readers: Vec<ReaderKind>,
    pub(crate) directory: PathBuf,
    pub(crate) bad: PathBuf,
    pub(crate) program: Option<PathBuf>,
    pub(crate) cut: Option<usize>,
    pub(crate) before: Option<PathBuf>,
    pub(crate) into: Option<PathBuf>,
    begun: Instant,
}

pub(crate) const HELP: &str = "\
Usage: torture VERB [OPTIONS]

  power    Record workloads, rebuild what a power loss leaves, judge it
  faults   Make calls fail: writes, fsyncs, reads, opens, renames, truncations
  flips    Flip bits, damage pages and cut files of a closed store
  kills    Kill workloads and `tonnage load --resume`, and go on
  linear   Search an order that explains small writes beside bulk puts
  readers  Feed readers of files, keys, definitions and SQL with mutations
  all      All of them, each with its share of the time
  replay   Rebuild and judge one state of a trace: replay TRACE --cut N --model M --seed N

Options:
  --seed N         The first seed; each run takes the next one [1]
  --runs N         How many runs (traced runs, faults, damaged copies, killed stores, rounds)
  --seconds N      Begin no further run after so long
  --cuts N         Moments judged in each traced run [12]
  --millis N       How long each workload runs [1500]
  --ledger N       Bytes of ledger after which a workload ends [60000]
  --kind PARTS     Workloads by their parts, such as single+bulk+dirs; several after commas
  --model NAMES    Models of the file system: strict,entries,prefix,pages,zeros,kill
  --reader NAMES   readers: csv,jsonl,json,parquet,arrow,avro,gzip,zstd,xz,zip,xlsx,chunk,key,
                   ddl,sql [all]
  --fault SPEC     faults: always this one: class:n:error:count[:part of the path]
  --dir DIR        Where to work [the temporary directory]
  --bad DIR        Where bad states are kept [tonnage-torture-bad in the temporary directory]
  --program FILE   The tonnage program [beside this one, if it is there]
  --into DIR       replay: leave the state here

Exit codes: 0 all is well or known, 1 something is unexplained, 3 the harness itself failed.";

impl TortureOptions {
    fn new() -> Self {
        let temporary = std::env::temp_dir();
        Self {
            seed: 1,
            runs: None,
            seconds: None,
            cuts: 12,
            millis: 1_500,
            ledger_bytes_max: 60_000,
            kinds: Vec::new(),
            models: Model::ALL.to_vec(),
            fault: None,
            readers: Vec::new(),
            bad: temporary.join("tonnage-torture-bad"),
            directory: temporary,
            program: None,
            cut: None,
            before: None,
            into: None,
            begun: Instant::now(),
        }
    }

    pub(crate) fn parse(words: &[String]) -> Fallible<Self> {
        let mut options = Self::new();
        for pair in words.chunks(2) {
            let [name, value] = pair else {
                return Err(format!("{} has no value", pair[0]).into());
            };
            options.set(name, value).map_err(|error| format!("{name} {value}: {error}"))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Fallible<()> {
        // `HELP` lists all of them but `--before`, which is in the commands that reports print.
        match name {
            "--seed" => self.seed = value.parse()?,
            "--runs" => self.runs = Some(value.parse()?),
            "--seconds" => self.seconds = Some(value.parse()?),
            "--cuts" => self.cuts = value.parse()?,
            "--millis" => self.millis = value.parse()?,
            "--ledger" => self.ledger_bytes_max = value.parse()?,
            "--kind" => {
                // Read at once: a wrong name must not come out only after an hour.
                self.kinds = value.split(',').map(WorkloadKind::parse).collect::<Result<_, _>>()?
            }
            "--model" => {
                let model = |name| Model::parse(name).ok_or_else(|| format!("no model {name}"));
                self.models = value.split(',').map(model).collect::<Result<_, _>>()?;
            }
            "--reader" => {
                self.readers = value.split(',').map(ReaderKind::parse).collect::<Result<_, _>>()?;
            }
            "--fault" => self.fault = Some(value.to_owned()),
            "--dir" => self.directory = value.into(),
            "--bad" => self.bad = value.into(),
            "--program" => self.program = Some(value.into()),
            "--cut" => self.cut = Some(value.parse()?),
            "--before" => self.before = Some(value.into()),
            "--into" => self.into = Some(value.into()),
            _ => return Err("there is no such option: torture --help".into()),
        }
        Ok(())
    }

    /// Whether a reader is asked for.
    pub(crate) fn reads(&self, reader: ReaderKind) -> bool {
        self.readers.is_empty() || self.readers.contains(&reader)
    }

    /// Whether the time is up.
    pub(crate) fn is_over(&self) -> bool {
        self.seconds.is_some_and(|seconds| self.begun.elapsed() >= Duration::from_secs(seconds))
    }

    /// The same with a share of the time, from now on.
    pub(crate) fn with_share(&self, percent: u64) -> Self {
        let seconds = self.seconds.map(|seconds| seconds * percent / 100);
        Self { seconds, begun: Instant::now(), ..self.clone() }
    }

    /// The numbers of the runs to do: as many as asked for, until time is up; `usual` is the
    /// default.
    pub(crate) fn units(&self, usual: u64) -> impl Iterator<Item = u64> + '_ {
        let most = if self.seconds.is_some() { u64::MAX } else { usual };
        (0..self.runs.unwrap_or(most)).take_while(|_| !self.is_over())
    }

    /// The workload of a run: those asked for, or the usual ones, in turn.
    pub(crate) fn kind(&self, usual: &[&str], unit: u64) -> Fallible<WorkloadKind> {
        let at = |len: usize| unit as usize % len;
        match self.kinds.is_empty() {
            true => Ok(WorkloadKind::parse(usual[at(usual.len())])?),
            false => Ok(self.kinds[at(self.kinds.len())].clone()),
        }
    }
}
