//! The document around a page, its top and its end.

use super::escape::escaped;
use super::table::facts;
use crate::report::{Report, facts as environment_facts, format};

/// A whole document.
pub(super) fn document(title: &str, body: &str) -> String {
    let (title, style) = (escaped(title), include_str!("style.css"));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Tonnage {title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// A section with a heading. Nothing when it would be empty.
pub(super) fn section(heading: &str, content: &str) -> String {
    if content.is_empty() {
        String::new()
    } else {
        format!("<section>\n<h2>{}</h2>\n{content}</section>\n", escaped(heading))
    }
}

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

/// Machine and settings side by side.
pub(super) fn machine_and_settings(report: &Report) -> String {
    let environment = &report.environment;
    let mut machine = environment_facts::of(environment);
    let free = environment
        .disks
        .iter()
        .map(|disk| (format!("free on {}", disk.label), format::bytes(disk.free_bytes as f64)));
    machine.extend(free);
    machine
        .push(("load average at the start".to_owned(), format!("{:.2}", environment.load_average)));
    let machine = section("Machine", &facts(machine));
    let settings = section("Settings", &facts(report.settings.clone()));
    format!("<div class=\"two\">\n{machine}{settings}</div>\n")
}
