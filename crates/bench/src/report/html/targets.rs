//! Targets side by side: the groups of their runs, and the colour of each. The same target has the
//! same colour in every chart of every report.

use super::page::escaped;
use crate::report::format::threads;
use crate::report::{Chart, ChartSeries, Report, Run, distinct};

/// Runs of the same name and as many threads: one thing that was measured, with every target it was
/// measured on.
pub(super) struct RunGroup<'a> {
    pub(super) name: &'a str,
    pub(super) threads: usize,
    pub(super) runs: Vec<&'a Run>,
}

impl<'a> RunGroup<'a> {
    /// The groups of a report, in the order of their first runs. A target that comes again begins a
    /// group of its own.
    pub(super) fn of(report: &'a Report) -> Vec<Self> {
        let mut groups: Vec<RunGroup<'a>> = Vec::new();
        for run in &report.runs {
            let is_of = |group: &&mut RunGroup<'_>| {
                (group.name, group.threads) == (run.name.as_str(), run.threads)
                    && group.run_of(&run.target).is_none()
            };
            match groups.iter_mut().find(is_of) {
                Some(group) => group.runs.push(run),
                None => {
                    groups.push(RunGroup { name: &run.name, threads: run.threads, runs: vec![run] })
                }
            }
        }
        groups
    }

    pub(super) fn run_of(&self, target: &str) -> Option<&'a Run> {
        self.runs.iter().copied().find(|run| run.target == target)
    }

    pub(super) fn title(&self) -> String {
        format!("{} · {}", self.name, threads(self.threads))
    }
}

/// Colours that eyes of every kind tell apart; the style sheet has one of each for light and for
/// dark.
const COLOURS: usize = 8;

/// Targets that keep their colour beside any others.
const FIXED: [&str; 3] = ["tonnage-rocksdb", "rocksdb", "tonnage-memory"];

/// Names that have a colour.
pub(super) struct Palette<'a>(Vec<&'a str>);

impl<'a> Palette<'a> {
    pub(super) fn of(targets: impl Iterator<Item = &'a str>) -> Self {
        Palette(distinct(FIXED.into_iter().chain(targets)))
    }

    /// The series of a chart with their colours: targets have their own, others the next ones that
    /// no target has.
    pub(super) fn of_series<'c>(&self, chart: &'c Chart) -> Vec<(&'c ChartSeries, usize)> {
        let mut free = self.0.len()..;
        let coloured = |series: &'c ChartSeries| {
            let place = self.place(&series.name).or_else(|| free.next());
            (series, place.unwrap_or(0) % COLOURS)
        };
        chart.series.iter().map(coloured).collect()
    }

    fn place(&self, target: &str) -> Option<usize> {
        self.0.iter().position(|known| *known == target)
    }

    pub(super) fn colour(&self, target: &str) -> usize {
        self.place(target).unwrap_or(self.0.len()) % COLOURS
    }

    /// A target's name after a mark of its colour.
    pub(super) fn named(&self, target: &str) -> String {
        swatch(self.colour(target)) + &escaped(target)
    }
}

pub(super) fn swatch(colour: usize) -> String {
    format!("<i class=\"c{colour}\"></i>")
}

pub(super) fn legend(series: &[(&ChartSeries, usize)]) -> String {
    let item = |(series, colour): &(&ChartSeries, usize)| {
        format!("<span>{}{}</span>", swatch(*colour), escaped(&series.name))
    };
    let items: String = series.iter().map(item).collect();
    format!("<span class=\"legend\">{items}</span>")
}
