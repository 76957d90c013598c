//! The HTML page.

use tonnage_bench::report::{Report, compare};

use super::sample::{self, written};

/// Elements that have no end.
const VOID: [&str; 3] = ["meta", "br", "!DOCTYPE"];

/// Checks that every element that begins ends, in order; gives the text between tags and the
/// attributes apart.
fn well_formed(page: &str) -> (String, String) {
    let (mut open, mut texts, mut tags) = (Vec::new(), String::new(), String::new());
    let (before_style, rest) = page.split_once("<style>").unwrap();
    let (_, after_style) = rest.split_once("</style>").unwrap();
    for piece in [before_style, after_style].concat().split('<').skip(1) {
        let (tag, text) =
            piece.split_once('>').unwrap_or_else(|| panic!("a tag has no end: {piece}"));
        assert!(!text.contains('>'), "text holds a bare >: {text}");
        let name =
            tag.trim_start_matches('/').split_whitespace().next().unwrap().trim_end_matches('/');
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "in front of {text}");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name.to_owned());
        }
        texts += text;
        tags += tag;
    }
    assert!(open.is_empty(), "{open:?} have no end");
    (texts, tags)
}

#[test]
fn it_holds_every_run_and_every_element_ends() {
    let report = sample::report();
    let (texts, _) = well_formed(&written(&report, "report.html"));
    for run in &report.runs {
        assert!(texts.contains(&run.name) && texts.contains(&run.target), "{}", run.title());
        let digits = format!("{:.0}", run.throughput()).into_bytes();
        let groups = digits.rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap());
        let rate = groups.collect::<Vec<_>>().join(",");
        assert!(texts.contains(&rate), "{rate}");
    }
    for text in [
        report.command.as_str(),
        &report.notes[0],
        &report.environment.cpu,
        "Throughput by cell",
        "Race to 100 %",
        "0.96×",
    ] {
        assert!(texts.contains(text), "{text}");
    }
}

#[test]
fn text_of_others_is_escaped() {
    let mut report = sample::report();
    report.command = "<script>alert('1')</script>".to_owned();
    report.runs[0].target = "a\"b<c>".to_owned();
    let page = written(&report, "report.html");
    assert!(!page.contains("<script") && !page.contains("<ssd>") && !page.contains("<by>"));
    assert!(page.contains("&lt;script&gt;"));
    assert!(page.contains("the disk of &lt;ssd&gt; &amp; its neighbour"));
    well_formed(&page);
}

#[test]
fn it_needs_no_network() {
    let page = written(&sample::report(), "report.html");
    let (_, tags) = well_formed(&page);
    for reference in ["http://", "https://", "src=", "href=", "url("] {
        assert!(!tags.contains(reference), "{reference}");
    }
    assert!(!page.contains("@import") && !page.contains("url("));
}

#[test]
fn reports_with_little_in_them_are_pages_too() {
    let report = sample::report();
    let empty =
        Report { runs: Vec::new(), charts: Vec::new(), notes: Vec::new(), ..report.clone() };
    well_formed(&written(&empty, "report.html"));
    let mut bulk = report.runs[0].clone();
    (bulk.operations, bulk.series, bulk.progress, bulk.throughputs) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let bulk = Report { runs: vec![bulk], charts: Vec::new(), ..report };
    let (texts, _) = well_formed(&written(&bulk, "report.html"));
    assert!(!texts.contains("Charts"), "one bar is no chart");
}

#[test]
fn numbers_that_are_none_break_no_chart() {
    let mut report = sample::report();
    report.charts[0].series[0].points[0].1 = f64::NAN;
    report.charts[1].series[0].points[1] = (f64::INFINITY, 1.0);
    report.charts[1].series[1].points.iter_mut().for_each(|point| *point = (0.0, 0.0));
    well_formed(&written(&report, "report.html"));
}

#[test]
fn a_comparison_is_a_page_too() {
    let report = sample::report();
    let mut other = report.clone();
    other.runs.pop();
    other.environment.cpu = "A <new> one".to_owned();
    let (texts, _) = well_formed(&compare(&report, &other).html());
    for text in
        ["within the noise", "Only a has c / uniform / 1.3x / ssd / rocksdb", "A &lt;new&gt; one"]
    {
        assert!(texts.contains(text), "{text}");
    }
}
