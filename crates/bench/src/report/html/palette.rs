//! Which colour stands for what: the same target has the same colour in every chart of every
//! report.

/// Colours that eyes of every kind tell apart; the style sheet has one of each for light and for
/// dark.
pub(super) const COLOURS: usize = 8;

/// Targets that keep their colour whatever stands beside them.
const FIXED: [&str; 3] = ["tonnage-rocksdb", "rocksdb", "tonnage-memory"];

/// Names that have a colour.
pub(super) struct Palette {
    names: Vec<String>,
}

impl Palette {
    /// One for these targets.
    pub(super) fn of<'a>(targets: impl Iterator<Item = &'a str>) -> Self {
        let mut palette = Palette { names: FIXED.map(str::to_owned).to_vec() };
        for target in targets {
            palette.add(target);
        }
        palette
    }

    fn add(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    /// The colours of the series of a chart: those of targets their own, others the next ones that
    /// no target has.
    pub(super) fn colours(&self, names: &[&str]) -> Vec<usize> {
        let own = |name: &str| self.names.iter().position(|known| known == name);
        let mut free = self.names.len()..;
        names.iter().map(|name| own(name).or_else(|| free.next()).unwrap_or(0) % COLOURS).collect()
    }

    /// The colour of a target.
    pub(super) fn colour(&self, target: &str) -> usize {
        self.colours(&[target])[0]
    }
}

/// A coloured mark beside a name.
pub(super) fn swatch(colour: usize) -> String {
    format!("<i class=\"c{colour}\"></i>")
}
