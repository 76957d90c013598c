//! Two reports side by side, and how far a run's rate may be off by chance.
//!
//! From three repeats on, it is Student's 95 % interval of their mean. With fewer, the readings of
//! the run must do: consecutive ones are put together in blocks, because a second is much like the
//! one before, and the interval is that of the blocks' means. Runs differ from one another by more
//! than their seconds do, therefore it is never less than a floor then.

use tonnage::arrow::array::RecordBatch;

use super::format::{self, threads};
use super::summary::{batch, hundredths, numbers, rounded, texts};
use super::{Report, Run, distinct};
use crate::choice::choice;
use crate::measure::Environment;

/// Two reports side by side: `b` as seen from `a`.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Where the sides come from: workload, start, version.
    pub sides: [String; 2],
    /// Runs that both sides have.
    pub matches: Vec<Match>,
    /// Runs that one side alone has.
    pub only: [Vec<String>; 2],
    /// What both sides tell differently about the machine, the program and the settings: what it
    /// is, and what each says.
    pub(super) differences: Vec<(String, [String; 2])>,
}

/// A run that both sides have.
#[derive(Clone, Debug)]
pub struct Match {
    /// The run's name.
    pub name: String,
    /// System and threads: `rocksdb, 4 threads`; both sides' where they differ.
    pub target: String,
    /// Median operations per second of each side.
    pub throughputs: [f64; 2],
    /// The median rate of `b` as a multiple of that of `a`.
    pub ratio: f64,
    /// The same of the 50th percentile of service time: less is better.
    pub p50_ratio: Option<f64>,
    /// The same of the 99th.
    pub p99_ratio: Option<f64>,
    /// How far from 1 the ratio may be by chance, and what that was read from.
    pub noise: Option<(f64, NoiseSource)>,
    /// What follows.
    pub verdict: Verdict,
}

choice! {
    /// What a comparison of two runs says, the best first.
    pub enum Verdict {
        /// `b` is faster, beyond the noise.
        Faster = "faster",
        /// `b` is slower, beyond the noise.
        Slower = "slower",
        /// The difference may be chance.
        WithinNoise = "within the noise",
        /// There is nothing to read the noise from: repeat the run, or let it take longer.
        TooFewReadings = "too few readings",
    }
}

impl Verdict {
    /// A ratio and its reverse are judged alike.
    fn of(ratio: f64, noise: Option<f64>) -> Verdict {
        match noise {
            Some(noise) if ratio.is_finite() && ratio > 1.0 + noise => Verdict::Faster,
            Some(noise) if ratio.is_finite() && ratio * (1.0 + noise) < 1.0 => Verdict::Slower,
            Some(_) if ratio.is_finite() => Verdict::WithinNoise,
            _ => Verdict::TooFewReadings,
        }
    }
}

/// Sets two reports side by side. Runs belong together when name, target and threads are the same.
/// Where each report has one target, runs of the same name do, too: then the targets are compared.
pub fn compare(a: &Report, b: &Report) -> Comparison {
    let [mut left, mut right] = [a, b].map(|report| report.runs.iter().collect::<Vec<_>>());
    let mut matches = pair(&mut left, &mut right, |a, b| {
        (&a.name, &a.target, a.threads) == (&b.name, &b.target, b.threads)
    });
    let targets =
        |report: &Report| distinct(report.runs.iter().map(|run| run.target.as_str())).len();
    if targets(a) == 1 && targets(b) == 1 {
        let same = |a: &Run, b: &Run| (&a.name, a.threads) == (&b.name, b.threads);
        matches.extend(pair(&mut left, &mut right, same));
        matches.extend(pair(&mut left, &mut right, |a, b| a.name == b.name));
    }
    let side = |report: &Report| {
        let Report { workload, started, environment, .. } = report;
        format!("{workload}, {started}, version {}", environment.version)
    };
    Comparison {
        sides: [a, b].map(side),
        matches,
        only: [left, right].map(|runs| runs.into_iter().map(Run::title).collect()),
        differences: differences(a, b),
    }
}

/// Takes the runs that belong together out of both sides, in the order of the first.
fn pair<'a>(
    left: &mut Vec<&'a Run>,
    right: &mut Vec<&'a Run>,
    same: impl Fn(&Run, &Run) -> bool,
) -> Vec<Match> {
    let mut matches = Vec::new();
    left.retain(|a| {
        let place = right.iter().position(|b| same(a, b));
        matches.extend(place.map(|place| Match::of(a, right.remove(place))));
        place.is_none()
    });
    matches
}

impl Match {
    fn of(a: &Run, b: &Run) -> Match {
        let ratio = b.throughput() / a.throughput();
        // If one of them was read from readings, both are no better than that.
        let noise = noise(a).zip(noise(b));
        let noise = noise.map(|((a, of_a), (b, of_b))| (a.hypot(b), of_a.max(of_b)));
        let percentile = |percent: f64| {
            let (a, b) = a.latency().zip(b.latency())?;
            (a.at(percent) > 0.0).then(|| b.at(percent) / a.at(percent))
        };
        let [before, after] = [a, b].map(|run| format!("{}, {}", run.target, threads(run.threads)));
        Match {
            name: a.name.clone(),
            target: if before == after { after } else { format!("{before} → {after}") },
            throughputs: [a.throughput(), b.throughput()],
            ratio,
            p50_ratio: percentile(50.0),
            p99_ratio: percentile(99.0),
            noise,
            verdict: Verdict::of(ratio, noise.map(|(share, _)| share)),
        }
    }
}

impl Comparison {
    /// The table that a terminal shows: one line for each run that both sides have.
    pub fn table(&self) -> RecordBatch {
        let all = &self.matches;
        let ratio = |ratio: f64| ratio.is_finite().then(|| hundredths(ratio));
        let percent = |share: f64| rounded(share * 100.0);
        batch([
            ("run", texts(all, |run| &run.name)),
            ("target", texts(all, |run| &run.target)),
            ("a_per_second", numbers(all, |run| Some(rounded(run.throughputs[0])))),
            ("b_per_second", numbers(all, |run| Some(rounded(run.throughputs[1])))),
            ("b_to_a", numbers(all, |run| ratio(run.ratio))),
            ("noise_percent", numbers(all, |run| run.noise.map(|(share, _)| percent(share)))),
            ("p50_b_to_a", numbers(all, |run| run.p50_ratio.map(hundredths))),
            ("p99_b_to_a", numbers(all, |run| run.p99_ratio.map(hundredths))),
            ("b_is", texts(all, |run| run.verdict.name())),
        ])
    }

    /// What a reader must know beside the table, a sentence each: how the noise was read, what only
    /// one side has, and how the sides differ.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.matches.iter().any(|run| matches!(run.noise, Some((_, NoiseSource::Readings)))) {
            notes.push(
                "Runs with fewer than three repeats: their noise is read from the readings by \
                 second, and is at least 2 % a side. Three repeats or more tell more."
                    .to_owned(),
            );
        }
        for (side, runs) in ["a", "b"].into_iter().zip(&self.only) {
            notes.extend(runs.iter().map(|run| format!("Only {side} has {run}.")));
        }
        let differs = |(what, [a, b]): &(String, [String; 2])| {
            format!("The {what} differs: {a} in a, {b} in b.")
        };
        notes.extend(self.differences.iter().map(differs));
        notes
    }
}

/// The machine and the program in words: what stays the same from run to run on one machine.
pub(super) fn machine(environment: &Environment) -> Vec<(String, String)> {
    let mut facts: Vec<_> = [
        ("processor", environment.cpu.clone()),
        ("cores", environment.cores.to_string()),
        ("memory", format::bytes(environment.memory_bytes as f64)),
        ("system", environment.system.clone()),
        ("kernel", environment.kernel.clone()),
        ("version", environment.version.clone()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    for disk in &environment.disks {
        let size = format::bytes(disk.size_bytes as f64);
        let text = format!("{} on {}, {}, {size}", disk.file_system, disk.device, disk.kind);
        facts.push((format!("disk {}", disk.label), text));
    }
    facts
}

/// The workload, then the machine and the program, then settings.
fn differences(a: &Report, b: &Report) -> Vec<(String, [String; 2])> {
    let told = |report: &Report| {
        let mut told = vec![("workload".to_owned(), report.workload.clone())];
        told.extend(machine(&report.environment));
        let settings = report.settings.iter();
        told.extend(settings.map(|(name, value)| (format!("setting {name}"), value.clone())));
        told
    };
    let sides = [told(a), told(b)];
    let value = |side: &[(String, String)], what: &str| {
        let known = side.iter().find(|(known, _)| known == what);
        known.map_or_else(|| "nothing".to_owned(), |(_, value)| value.clone())
    };
    let names: Vec<&str> = distinct(sides.iter().flatten().map(|(what, _)| what.as_str()));
    let both = |what: &str| (what.to_owned(), sides.each_ref().map(|side| value(side, what)));
    names.into_iter().map(both).filter(|(_, [a, b])| a != b).collect()
}

/// Where a noise was read from, the better one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseSource {
    /// From the repeats of the run.
    Repeats,
    /// From the readings by second of fewer than three repeats.
    Readings,
}

const REPEATS_MIN: usize = 3;
const READINGS_MIN: usize = 8;
const BLOCKS_MAX: usize = 10;
/// What one repeat may be off from another at the least.
const FLOOR: f64 = 0.02;

/// How far the rate of a run may be off, as a share of it; nothing when there is too little to read
/// it from.
fn noise(run: &Run) -> Option<(f64, NoiseSource)> {
    if run.throughputs.len() >= REPEATS_MIN {
        return Some((interval(&run.throughputs)?, NoiseSource::Repeats));
    }
    let share = interval(&blocks(run)?)?.max(run.spread().unwrap_or(0.0) / 2.0).max(FLOOR);
    Some((share, NoiseSource::Readings))
}

/// The means of blocks of readings, the warm-up left out.
fn blocks(run: &Run) -> Option<Vec<f64>> {
    let measured = run.series.iter().filter(|second| !second.warm_up);
    let rates: Vec<f64> = measured.map(|second| second.throughput).collect();
    let blocks = (rates.len() / 2).min(BLOCKS_MAX);
    let start = |block: usize| block * rates.len() / blocks;
    (rates.len() >= READINGS_MIN)
        .then(|| (0..blocks).map(|block| mean(&rates[start(block)..start(block + 1)])).collect())
}

/// Half of Student's 95 % interval of the mean, as a share of the mean.
fn interval(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples);
    let variance = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>()
        / (samples.len() - 1) as f64;
    let half = student(samples.len() - 1) * (variance / samples.len() as f64).sqrt();
    (mean > 0.0).then(|| half / mean)
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Student's t for 97.5 %, by degrees of freedom.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    TABLE.get(freedom - 1).copied().unwrap_or(if freedom < 30 { 2.2 } else { 2.05 })
}
