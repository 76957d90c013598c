//! What two reports tell differently about machine, program and settings.

use std::collections::BTreeMap;

use crate::report::{Report, facts};

/// Something that both sides tell differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is.
    pub what: String,
    /// What each side says.
    pub sides: [String; 2],
}

/// All of them: the workload, then the machine and the program, then settings.
pub(super) fn all(a: &Report, b: &Report) -> Vec<Difference> {
    let mut differences = Vec::new();
    let (a, b) = (told(a), told(b));
    let only_b = b.iter().filter(|(what, _)| !a.iter().any(|(other, _)| other == what));
    for (what, _) in a.iter().chain(only_b) {
        let sides = [&a, &b].map(|told| value(told, what));
        if sides[0] != sides[1] {
            differences.push(Difference { what: what.clone(), sides });
        }
    }
    differences
}

fn told(report: &Report) -> Vec<(String, String)> {
    let mut told = vec![("workload".to_owned(), report.workload.clone())];
    told.extend(facts::of(&report.environment));
    told.extend(settings(&report.settings));
    told
}

fn settings(settings: &BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    settings.iter().map(|(name, value)| (format!("setting {name}"), value.clone()))
}

fn value(told: &[(String, String)], what: &str) -> String {
    told.iter()
        .find(|(known, _)| known == what)
        .map_or_else(|| "nothing".to_owned(), |(_, value)| value.clone())
}
