//! Tells on standard error how far a benchmark is, and stops it at Ctrl-C.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use tonnage::Cancel;
use tonnage::internal::sync::lock;
use tonnage_bench::measure::Watcher;

use crate::args::Globals;
use crate::display::{Console, ProgressSample, Watch};
use crate::interrupt;
use crate::values::grouped;

/// A bar for each phase on a terminal, else a line every few seconds; a line at the end of each
/// phase.
pub(super) struct TerminalWatcher {
    globals: Globals,
    cancel: Cancel,
    phase: Mutex<Option<RunningPhase>>,
}

struct RunningPhase {
    name: String,
    pace: Arc<PhaseProgress>,
    /// Only held: the display is removed with it.
    _watch: Option<Watch>,
}

#[derive(Default)]
struct PhaseProgress {
    done: AtomicU64,
    per_second: AtomicU64,
}

impl TerminalWatcher {
    pub(super) fn new(globals: &Globals) -> Self {
        TerminalWatcher {
            globals: globals.clone(),
            cancel: interrupt::cancel(),
            phase: Mutex::new(None),
        }
    }
}

impl Watcher for TerminalWatcher {
    fn begin(&self, phase: &str, total: Option<u64>) {
        let pace = Arc::<PhaseProgress>::default();
        let (seen, name) = (pace.clone(), phase.to_owned());
        let watch = Console::new(&self.globals).watch(move || {
            let (done, per_second) = (seen.done.load(Relaxed), seen.per_second.load(Relaxed));
            ProgressSample {
                done,
                total,
                text: format!("{name}: {} done, {}/s", grouped(done), grouped(per_second)),
                figures: Vec::new(),
            }
        });
        let begun = RunningPhase { name: phase.to_owned(), pace, _watch: watch };
        *lock(&self.phase) = Some(begun);
    }

    fn at(&self, done: u64, per_second: f64) {
        if let Some(phase) = &*lock(&self.phase) {
            phase.pace.done.store(done, Relaxed);
            phase.pace.per_second.store(per_second as u64, Relaxed);
        }
    }

    fn end(&self, summary: &str) {
        let phase = lock(&self.phase).take();
        let name = phase.map(|phase| format!("{}: ", phase.name)).unwrap_or_default();
        self.globals.info(format_args!("{name}{summary}"));
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
