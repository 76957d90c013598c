//! A run that both sides of a comparison have.

use crate::report::Run;
use crate::report::noise::{Noise, NoiseSource};

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

/// What a comparison of two runs says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// `b` is faster, beyond the noise.
    Faster,
    /// `b` is slower, beyond the noise.
    Slower,
    /// The difference may be chance.
    WithinNoise,
    /// There is nothing to read the noise from: repeat the run, or let it take longer.
    TooFewReadings,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::WithinNoise => "within the noise",
            Verdict::TooFewReadings => "too few readings",
        }
    }
}

impl Match {
    pub(super) fn of(a: &Run, b: &Run) -> Match {
        let ratio = b.throughput() / a.throughput();
        let noise = Noise::of(a).zip(Noise::of(b)).map(|(a, b)| {
            let readings = [a.source, b.source].contains(&NoiseSource::Readings);
            (
                a.share.hypot(b.share),
                if readings { NoiseSource::Readings } else { NoiseSource::Repeats },
            )
        });
        let percentile = |percent: f64| {
            let (a, b) = a.latency().zip(b.latency())?;
            (a.at(percent) > 0.0).then(|| b.at(percent) / a.at(percent))
        };
        Match {
            name: a.name.clone(),
            target: targets(a, b),
            throughputs: [a.throughput(), b.throughput()],
            ratio,
            p50_ratio: percentile(50.0),
            p99_ratio: percentile(99.0),
            noise,
            verdict: verdict(ratio, noise.map(|(share, _)| share)),
        }
    }
}

/// A ratio and its reverse are judged alike.
fn verdict(ratio: f64, noise: Option<f64>) -> Verdict {
    match noise {
        Some(noise) if ratio.is_finite() && ratio > 1.0 + noise => Verdict::Faster,
        Some(noise) if ratio.is_finite() && ratio * (1.0 + noise) < 1.0 => Verdict::Slower,
        Some(_) if ratio.is_finite() => Verdict::WithinNoise,
        _ => Verdict::TooFewReadings,
    }
}

fn targets(a: &Run, b: &Run) -> String {
    let text = |run: &Run| {
        format!("{}, {} thread{}", run.target, run.threads, if run.threads == 1 { "" } else { "s" })
    };
    let (a, b) = (text(a), text(b));
    if a == b { a } else { format!("{a} → {b}") }
}
