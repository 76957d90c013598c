//! Which colour stands for what: the same target has the same colour in every chart of every
//! report.

use super::page::escaped;
use crate::report::Chart;

/// Colours that eyes of every kind tell apart; the style sheet has one of each for light and for
/// dark.
const COLOURS: usize = 8;

/// Targets that keep their colour whatever stands beside them.
const FIXED: [&str; 3] = ["tonnage-rocksdb", "rocksdb", "tonnage-memory"];

/// Names that have a colour.
pub(super) struct Palette<'a>(Vec<&'a str>);

impl<'a> Palette<'a> {
    pub(super) fn of(targets: impl Iterator<Item = &'a str>) -> Self {
        Palette(crate::report::distinct(FIXED.into_iter().chain(targets)))
    }

    /// The colours of the series of a chart: those of targets their own, others the next ones that
    /// no target has.
    fn colours(&self, names: &[&str]) -> Vec<usize> {
        let own = |name: &str| self.0.iter().position(|known| *known == name);
        let mut free = self.0.len()..;
        names.iter().map(|name| own(name).or_else(|| free.next()).unwrap_or(0) % COLOURS).collect()
    }

    /// The names and the colours of the series of a chart.
    pub(super) fn of_series<'c>(&self, chart: &'c Chart) -> (Vec<&'c str>, Vec<usize>) {
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        let colours = self.colours(&names);
        (names, colours)
    }

    pub(super) fn colour(&self, target: &str) -> usize {
        self.colours(&[target])[0]
    }

    /// A target's name behind a mark of its colour.
    pub(super) fn named(&self, target: &str) -> String {
        swatch(self.colour(target)) + &escaped(target)
    }
}

pub(super) fn swatch(colour: usize) -> String {
    format!("<i class=\"c{colour}\"></i>")
}

pub(super) fn legend(names: &[&str], colours: &[usize]) -> String {
    let item = |(name, colour): (&&str, &usize)| {
        format!("<span>{}{}</span>", swatch(*colour), escaped(name))
    };
    let items: String = names.iter().zip(colours).map(item).collect();
    format!("<span class=\"legend\">{items}</span>")
}
