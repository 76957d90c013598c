//! The machine and the settings.

use super::shell::section as titled;
use super::table::facts;
use crate::report::{Report, facts as environment_facts, format};

/// Machine and settings side by side.
pub(super) fn section(report: &Report) -> String {
    let environment = &report.environment;
    let mut machine = environment_facts::of(environment);
    let free = environment
        .disks
        .iter()
        .map(|disk| (format!("free on {}", disk.label), format::bytes(disk.free_bytes as f64)));
    machine.extend(free);
    machine
        .push(("load average at the start".to_owned(), format!("{:.2}", environment.load_average)));
    let machine = titled("Machine", &facts(machine));
    let settings = titled("Settings", &facts(report.settings.clone()));
    format!("<div class=\"two\">\n{machine}{settings}</div>\n")
}
