//! The top of a report: what was run, where, and what one must know to judge it.

use super::escape::escaped;
use crate::report::{Report, format};

/// Heading, machine in a line, and the command to run it again.
pub(super) fn header(report: &Report) -> String {
    let environment = &report.environment;
    let moment = report.started.replace('T', " ").replace('Z', " UTC");
    let machine = format!(
        "{} × {}, {} of memory",
        environment.cores,
        environment.cpu,
        format::bytes(environment.memory_bytes as f64)
    );
    format!(
        "<header>\n<p class=\"eyebrow\">Tonnage {version}</p>\n<h1>bench {workload}</h1>\n<p class=\"lead\">{moment} · {machine}</p>\n\
         <pre class=\"command\"><code>{command}</code></pre>\n</header>\n",
        version = escaped(&environment.version),
        workload = escaped(&report.workload),
        moment = escaped(&moment),
        machine = escaped(&machine),
        command = escaped(&report.command),
    )
}

/// What a reader must know to judge the numbers.
pub(super) fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items: String = notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note))).collect();
    format!("<aside>\n<h2>To judge the numbers</h2>\n<ul>\n{items}</ul>\n</aside>\n")
}
