//! The document around a page, its top and its end.

use super::table::{boxed, escaped, facts};
use crate::report::{Report, compare, format};

/// A whole document.
pub(super) fn document(title: &str, body: &str) -> String {
    let page = include_str!("page.html").replace("{title}", &escaped(title));
    page.replace("{style}", include_str!("style.css")).replace("{body}", body)
}

/// A section with a heading. Nothing when it would be empty.
pub(super) fn section(heading: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<section>\n<h2>{}</h2>\n{content}</section>\n", escaped(heading))
}

/// Heading, machine in a line, and the command to run it again.
pub(super) fn header(report: &Report) -> String {
    let environment = &report.environment;
    let moment = escaped(&report.started.replace('T', " ").replace('Z', " UTC"));
    let [version, workload, command, cpu] =
        [&environment.version, &report.workload, &report.command, &environment.cpu]
            .map(|text| escaped(text));
    let (cores, memory) = (environment.cores, format::bytes(environment.memory_bytes as f64));
    format!(
        "<header>\n<p class=\"eyebrow\">Tonnage {version}</p>\n<h1>bench {workload}</h1>\n\
         <p class=\"lead\">{moment} · {cores} × {cpu}, {memory} of memory</p>\n\
         <pre class=\"command\"><code>{command}</code></pre>\n</header>\n"
    )
}

/// What a reader must know to judge the numbers.
pub(super) fn notes(notes: &[String]) -> String {
    boxed("", "<h2>To judge the numbers</h2>", notes)
}

/// Machine and settings side by side.
pub(super) fn machine_and_settings(report: &Report) -> String {
    let environment = &report.environment;
    let mut machine = compare::machine(environment);
    let free = environment
        .disks
        .iter()
        .map(|disk| (format!("free on {}", disk.label), format::bytes(disk.free_bytes as f64)));
    machine.extend(free);
    let load = format!("{:.2}", environment.load_average);
    machine.push(("load average at the start".to_owned(), load));
    let machine = section("Machine", &facts(machine));
    let settings = section("Settings", &facts(report.settings.clone()));
    format!("<div class=\"two\">\n{machine}{settings}</div>\n")
}
