//! The parts of pages: the document, its top and its end; text, tables and lists.

use crate::report::{Report, compare, format};

pub(super) fn document(title: &str, body: &str) -> String {
    let page = include_str!("page.html").replace("{title}", &escaped(title));
    page.replace("{style}", include_str!("style.css")).replace("{body}", body)
}

/// The content between two tags. Nothing when it would be empty.
pub(super) fn wrapped(before: &str, content: &str, after: &str) -> String {
    if content.is_empty() { String::new() } else { [before, content, after].concat() }
}

/// A section with a heading. Nothing when it would be empty.
pub(super) fn section(heading: &str, content: &str) -> String {
    wrapped(&format!("<section>\n<h2>{}</h2>\n", escaped(heading)), content, "</section>\n")
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

pub(super) fn machine_and_settings(report: &Report) -> String {
    let environment = &report.environment;
    let mut machine = compare::machine(environment);
    for disk in &environment.disks {
        machine.push((format!("free on {}", disk.label), format::bytes(disk.free_bytes as f64)));
    }
    let load = format!("{:.2}", environment.load_average);
    machine.push(("load average at the start".to_owned(), load));
    let machine = section("Machine", &facts(machine));
    let settings = section("Settings", &facts(report.settings.clone()));
    format!("<div class=\"two\">\n{machine}{settings}</div>\n")
}

/// Text as it may stand between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    // The ampersand comes first: the others bring new ones.
    let safe = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    safe.replace('"', "&quot;").replace('\'', "&#39;")
}

/// The content of a cell: HTML that is safe, on the left or, as numbers, on the right.
pub(super) struct Cell {
    html: String,
    is_number: bool,
}

impl Cell {
    pub(super) fn text(text: &str) -> Cell {
        Cell::label(escaped(text))
    }

    pub(super) fn number(text: impl AsRef<str>) -> Cell {
        Cell::html(escaped(text.as_ref()))
    }

    pub(super) fn optional(text: Option<String>) -> Cell {
        Cell::number(text.as_deref().unwrap_or("–"))
    }

    /// HTML that is safe already, on the right.
    pub(super) fn html(html: String) -> Cell {
        Cell { html, is_number: true }
    }

    /// HTML that is safe already, on the left.
    pub(super) fn label(html: String) -> Cell {
        Cell { html, is_number: false }
    }

    fn tagged(&self, tag: &str) -> String {
        let class = if self.is_number { " class=\"n\"" } else { "" };
        format!("<{tag}{class}>{}</{tag}>", self.html)
    }
}

/// A table whose first column names its rows. It scrolls by itself where the screen is narrow.
pub(super) fn table(head: Vec<Cell>, rows: impl IntoIterator<Item = Vec<Cell>>) -> String {
    let head: String = head.iter().map(|cell| cell.tagged("th")).collect();
    let row = |cells: Vec<Cell>| {
        let tags = std::iter::once("th").chain(std::iter::repeat("td"));
        let cells: String = cells.iter().zip(tags).map(|(cell, tag)| cell.tagged(tag)).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rows.into_iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

pub(super) fn facts(facts: impl IntoIterator<Item = (String, String)>) -> String {
    let row = |(name, value): (String, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&name), escaped(&value))
    };
    let rows: String = facts.into_iter().map(row).collect();
    wrapped("<dl>\n", &rows, "</dl>\n")
}

/// A list in a box of its own; nothing when it would be empty.
pub(super) fn boxed(class: &str, heading: &str, texts: &[String]) -> String {
    let items: String = texts.iter().map(|text| format!("<li>{}</li>\n", escaped(text))).collect();
    wrapped(&format!("<aside{class}>\n{heading}\n<ul>\n"), &items, "</ul>\n</aside>\n")
}
