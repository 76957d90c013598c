//! Takes a reading about every second during a run, and passes it to the watcher.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tonnage::Result;

use super::Meter;
use super::process::{ProcessFigures, memory_peak_bytes, reset_memory_peak};
use super::totals::new_histogram;
use crate::report::{MEMORY_PEAK, ProgressPoint, Run, Second, named};
use crate::system::Gauges;

/// How long a reading is.
const READING: Duration = Duration::from_secs(1);

/// A shorter last reading is merged into the one before: its rates would be of few operations.
const READING_MIN: Duration = Duration::from_millis(300);

/// How often progress and cancellation are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Receives the progress of a benchmark, and may stop it.
pub trait Watcher: Sync {
    /// A phase begins: what it is, and how many operations (or rows) it has, if that is known.
    fn begin(&self, _phase: &str, _total: Option<u64>) {}

    /// How many operations (or rows) of the phase are done, and how many a second lately. Called
    /// about once a second.
    fn at(&self, _done: u64, _per_second: f64) {}

    /// The phase has ended; a line that sums it up.
    fn end(&self, _summary: &str) {}

    /// Whether the benchmark should stop at the next opportunity, as after Ctrl-C. What was
    /// measured so far still counts.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores the progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWatcher;

impl Watcher for NoWatcher {}

/// Reads the gauges of the system that is measured.
pub type SystemGauges<'a> = dyn Fn() -> Result<Gauges> + Sync + 'a;

/// What readings are differences of.
#[derive(Clone, Copy)]
struct GaugeSample {
    at: Instant,
    done: u64,
    process: ProcessFigures,
}

/// Takes the readings of one run.
pub(super) struct Sampler<'a> {
    meter: &'a Meter<'a>,
    gauges: &'a SystemGauges<'a>,
    watcher: &'a dyn Watcher,
    deadline: Option<Instant>,
    /// The samples at the beginning of the current reading, and of the one before.
    last: GaugeSample,
    before_last: GaugeSample,
    /// Service times of the last reading.
    times: Histogram<u32>,
    progress: ProgressCurve,
    memory_peak_is_reset: bool,
    memory_peak_bytes: u64,
    /// The part of what was measured that it saw.
    seen: Run,
}

impl<'a> Sampler<'a> {
    pub(super) fn start(
        meter: &'a Meter<'a>,
        gauges: &'a SystemGauges<'a>,
        watcher: &'a dyn Watcher,
    ) -> Self {
        let start = GaugeSample { at: meter.started(), done: 0, process: ProcessFigures::read() };
        let total = meter.plan.total.filter(|total| *total > 0);
        Sampler {
            meter,
            gauges,
            watcher,
            deadline: meter.plan.seconds_max.map(|seconds| meter.measured_from + seconds),
            last: start,
            before_last: start,
            times: new_histogram(),
            progress: ProgressCurve { total, done: 0, at: start.at },
            memory_peak_is_reset: reset_memory_peak(),
            memory_peak_bytes: 0,
            seen: Run::default(),
        }
    }

    /// Runs until the other end of `running` is dropped.
    pub(super) fn run(&mut self, running: &Receiver<()>) {
        while let Err(RecvTimeoutError::Timeout) = running.recv_timeout(self.pause()) {
            self.look();
        }
    }

    /// Adds the last reading. Gives the part of what was measured that it saw, with the figures
    /// that every run has, where there was something to read.
    pub(super) fn finish(mut self, ended: Instant) -> Run {
        let joined = if self.last_is_too_short(ended) { self.seen.series.pop() } else { None };
        match joined {
            Some(_) => self.last = self.before_last,
            None => self.times.reset(),
        }
        let done = self.meter.done();
        self.take_reading(ended, done);
        if let (Some(joined), Some(last)) = (joined, self.seen.series.last_mut()) {
            last.stalled |= joined.stalled;
        }
        self.seen.progress.extend(self.progress.next(done, ended, true));
        let peak = if self.memory_peak_is_reset { memory_peak_bytes() } else { 0 };
        let disk_bytes = self.seen.series.last().map_or(0, |last| last.disk_bytes);
        let figures = [
            (MEMORY_PEAK, peak.max(self.memory_peak_bytes) as f64),
            ("disk_bytes", disk_bytes as f64),
            ("cpu_cores_mean", cpu_cores_mean(&self.seen.series)),
        ];
        self.seen.figures = named(figures.into_iter().filter(|(_, figure)| *figure > 0.0));
        self.seen
    }

    /// Too short to stand alone, unless it is all that was measured after the warm-up.
    fn last_is_too_short(&self, ended: Instant) -> bool {
        let is_warm_up = |sample: &GaugeSample| sample.at < self.meter.measured_from;
        let is_short = ended.saturating_duration_since(self.last.at) < READING_MIN;
        is_short && is_warm_up(&self.last) == is_warm_up(&self.before_last)
    }

    fn pause(&self) -> Duration {
        let until = |moment: Instant| moment.saturating_duration_since(Instant::now());
        let deadline = self.deadline.filter(|_| !self.meter.is_over()).map_or(LOOK, until);
        LOOK.min(deadline).min(until(self.next_reading()))
    }

    fn look(&mut self) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) || self.watcher.is_cancelled() {
            self.meter.stop_flag().cancel();
        }
        let done = self.meter.done();
        self.seen.progress.extend(self.progress.next(done, now, false));
        if now >= self.next_reading() {
            self.times.reset();
            self.take_reading(now, done);
            self.watcher.at(done, self.seen.series.last().map_or(0.0, |second| second.throughput));
        }
    }

    /// When the current reading ends. None spans the end of the warm-up.
    fn next_reading(&self) -> Instant {
        let (next, measured_from) = (self.last.at + READING, self.meter.measured_from);
        if self.last.at < measured_from { next.min(measured_from) } else { next }
    }

    fn take_reading(&mut self, now: Instant, done: u64) {
        let sample = GaugeSample { at: now, done, process: ProcessFigures::read() };
        self.meter.take_times(&mut self.times);
        let second = self.second(&sample);
        self.memory_peak_bytes = self.memory_peak_bytes.max(second.memory_bytes);
        self.seen.series.push(second);
        (self.before_last, self.last) = (self.last, sample);
    }

    fn second(&self, now: &GaugeSample) -> Second {
        let seconds = now.at.saturating_duration_since(self.last.at).as_secs_f64();
        let rate = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let grown = |now: u64, before: u64| rate(now.saturating_sub(before) as f64);
        // A system that cannot be read is no reason to end a run: its own calls will say what is
        // wrong.
        let gauges = (self.gauges)().unwrap_or_default();
        Second {
            at_seconds: now.at.saturating_duration_since(self.meter.started()).as_secs_f64(),
            warm_up: self.last.at < self.meter.measured_from,
            throughput: grown(now.done, self.last.done),
            p99_us: (!self.times.is_empty())
                .then(|| self.times.value_at_quantile(0.99) as f64 / 1e3),
            stalled: gauges.stalled,
            compaction_pending_bytes: gauges.compaction_pending_bytes,
            cpu_cores: rate(now.process.cpu_seconds - self.last.process.cpu_seconds),
            memory_bytes: now.process.memory_bytes,
            disk_read_bytes_per_second: grown(now.process.read_bytes, self.last.process.read_bytes),
            disk_write_bytes_per_second: grown(
                now.process.written_bytes,
                self.last.process.written_bytes,
            ),
            disk_bytes: gauges.disk_bytes,
        }
    }
}

/// Readings are not equally long: each counts as long as it took.
fn cpu_cores_mean(series: &[Second]) -> f64 {
    let (mut core_seconds, mut seconds, mut before) = (0.0, 0.0, 0.0);
    for reading in series {
        let took = reading.at_seconds - before;
        before = reading.at_seconds;
        if !reading.warm_up {
            core_seconds += reading.cpu_cores * took;
            seconds += took;
        }
    }
    core_seconds / seconds
}

/// Points of a whole run.
const POINTS: f64 = 50.0;

/// Rate against share of the work. Has no points where the whole is not known.
struct ProgressCurve {
    total: Option<u64>,
    /// Where the point before was.
    done: u64,
    at: Instant,
}

impl ProgressCurve {
    /// The next point, if its share of the work is done, or, at the end, anything since the last.
    fn next(&mut self, done: u64, now: Instant, is_end: bool) -> Option<ProgressPoint> {
        let total = self.total? as f64;
        let more = (done - self.done) as f64;
        let seconds = now.saturating_duration_since(self.at).as_secs_f64();
        let is_due = more >= total / POINTS || (is_end && more > 0.0);
        if !is_due || seconds == 0.0 {
            return None;
        }
        (self.done, self.at) = (done, now);
        let percent = 100.0 * done as f64 / total;
        Some(ProgressPoint { percent, throughput: more / seconds })
    }
}
