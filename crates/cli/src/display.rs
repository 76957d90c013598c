//! Shows the progress of long work: a bar on a terminal, else a line every 5 seconds, or a JSON
//! object every second for programs.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value};

use crate::args::Globals;
use crate::plain;
use crate::stderr;

/// How often a bar moves.
const BAR_EVERY: Duration = Duration::from_millis(150);
/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// How often an object of JSON is written.
const JSON_EVERY: Duration = Duration::from_secs(1);

/// `--progress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressAs {
    /// A bar at a terminal, else a line every 5 seconds
    #[default]
    Text,
    /// An object of JSON a second, each on a line, and one at the end
    Json,
    /// Nothing
    None,
}

/// One look at work under way.
pub(crate) struct ProgressSample {
    /// How much is done, in whatever unit the total is given.
    pub(crate) done: u64,
    /// How much there is in all, if that is known.
    pub(crate) total: Option<u64>,
    /// What to say beside it.
    pub(crate) text: String,
    /// The same for programs.
    pub(crate) figures: Vec<(&'static str, u64)>,
}

/// Lines on standard error that do not tear a bar apart.
#[derive(Clone)]
pub(crate) struct Console {
    shows: ProgressAs,
    bar: Option<ProgressBar>,
}

impl Console {
    pub(crate) fn new(globals: &Globals) -> Self {
        Self::showing(globals, ProgressAs::Text)
    }

    /// A console that shows progress in the given form.
    pub(crate) fn showing(globals: &Globals, shows: ProgressAs) -> Self {
        let shows = if globals.quiet { ProgressAs::None } else { shows };
        let has_bar = shows == ProgressAs::Text && std::io::stderr().is_terminal();
        Self { shows, bar: has_bar.then(ProgressBar::no_length) }
    }

    /// Writes a line, quiet or not.
    pub(crate) fn warn(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        let text = plain::lines(&text);
        match &self.bar {
            Some(bar) => bar.suspend(|| stderr::line(&text)),
            None => stderr::line(text),
        }
    }

    /// Show the progress of work until the returned display is dropped.
    pub(crate) fn watch(
        &self,
        look: impl Fn() -> ProgressSample + Send + 'static,
    ) -> Option<Watch> {
        if self.shows == ProgressAs::None {
            return None;
        }
        let is_json = self.shows == ProgressAs::Json;
        // Nothing is ever sent: dropping the sender ends the wait at once, so no work waits for a
        // tick.
        let (stop, stopped) = mpsc::channel::<()>();
        let bar = self.bar.clone();
        let started = Instant::now();
        let thread = std::thread::spawn(move || {
            let every = match (is_json, &bar) {
                (true, _) => JSON_EVERY,
                (false, Some(_)) => BAR_EVERY,
                (false, None) => LINE_EVERY,
            };
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let sample = look();
                match &bar {
                    Some(bar) => update_bar(bar, &sample),
                    None if is_json => stderr::line(json(&sample, started.elapsed(), false)),
                    None => stderr::line(line(&sample, started.elapsed())),
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
            // Work shorter than one interval reports its figures, too.
            if is_json {
                stderr::line(json(&look(), started.elapsed(), true));
            }
        });
        Some(Watch { stop: Some(stop), thread: Some(thread) })
    }
}

fn update_bar(bar: &ProgressBar, sample: &ProgressSample) {
    let template = match sample.total {
        Some(_) => "{bar:30} {percent:>3}%  {msg}  {elapsed}",
        None => "{spinner} {msg}  {elapsed}",
    };
    if let Some(total) = sample.total {
        bar.set_length(total);
    }
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_position(sample.done);
    bar.set_message(sample.text.clone());
}

fn line(sample: &ProgressSample, elapsed: Duration) -> String {
    let share = sample.total.filter(|total| *total > 0);
    let share = share
        .map(|total| format!("{:.0}%, ", 100.0 * sample.done as f64 / total as f64))
        .unwrap_or_default();
    format!("{share}{}, {:.0} s", sample.text, elapsed.as_secs_f64())
}

fn json(sample: &ProgressSample, elapsed: Duration, is_over: bool) -> Value {
    let mut object: Map<String, Value> = sample
        .figures
        .iter()
        .map(|(name, figure)| ((*name).to_owned(), (*figure).into()))
        .collect();
    object.insert("seconds".to_owned(), elapsed.as_secs_f64().into());
    object.insert("over".to_owned(), is_over.into());
    object.into()
}

/// A running progress display. Dropping it ends the display.
pub(crate) struct Watch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
