//! The closing table: in bulk, one at a time, and how many times faster.

use std::fmt;

use crate::text::grouped;

/// How many entries in how many seconds.
#[derive(Clone, Copy, Debug)]
struct MeasuredRate {
    count: u64,
    seconds: f64,
}

impl MeasuredRate {
    fn per_second(self) -> f64 {
        self.count as f64 / self.seconds.max(1e-9)
    }
}

/// What was measured, by the name of the work.
#[derive(Debug, Default)]
pub(crate) struct RateTable(Vec<(&'static str, Option<MeasuredRate>, Option<MeasuredRate>)>);

impl RateTable {
    /// Work done in bulk.
    pub(crate) fn bulk(&mut self, work: &'static str, count: u64, seconds: f64) {
        self.row(work).1 = Some(MeasuredRate { count, seconds });
    }

    /// The same work done one record at a time.
    pub(crate) fn single(&mut self, work: &'static str, count: u64, seconds: f64) {
        self.row(work).2 = Some(MeasuredRate { count, seconds });
    }

    fn row(
        &mut self,
        work: &'static str,
    ) -> &mut (&'static str, Option<MeasuredRate>, Option<MeasuredRate>) {
        let place = self.0.iter().position(|(name, _, _)| *name == work).unwrap_or_else(|| {
            self.0.push((work, None, None));
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

impl fmt::Display for RateTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<30} {:>12} {:>14} {:>12} {:>16} {:>8}",
            "", "in bulk", "a second", "one by one", "a second", "faster"
        )?;
        // The widths are those of the header. `print_line` adds the last line end.
        for (place, (work, bulk, single)) in self.0.iter().enumerate() {
            if place > 0 {
                writeln!(f)?;
            }
            let count = |rate: &Option<MeasuredRate>| {
                rate.map(|rate| grouped(rate.count)).unwrap_or_default()
            };
            let pace = |rate: &Option<MeasuredRate>| {
                rate.map(|rate| grouped(rate.per_second() as u64)).unwrap_or_default()
            };
            // Work that was done in one way only has nothing to be compared with.
            let ratio = match (bulk, single) {
                (Some(bulk), Some(single)) => {
                    format!("{:.1}x", bulk.per_second() / single.per_second())
                }
                _ => String::new(),
            };
            let (bulk_count, single_count) = (count(bulk), count(single));
            write!(
                f,
                "{work:<30} {bulk_count:>12} {:>14} {single_count:>12} {:>16} {ratio:>8}",
                pace(bulk),
                pace(single)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_compares_one_kind_of_work() {
        let mut rates = RateTable::default();
        rates.bulk("put", 2_000_000, 2.0);
        rates.single("put", 1_000, 0.01);
        let text = rates.to_string();
        let line = text.lines().nth(1).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words, ["put", "2,000,000", "1,000,000", "1,000", "100,000", "10.0x"]);
    }
}
