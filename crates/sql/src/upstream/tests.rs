use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DataFusionError, Result};
use datafusion::optimizer::Analyzer;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;

use super::passes::{NamedRule, Pass, arranged};
use super::projection_pushdown::FallibleProjectionPushdown;
use super::repairs::{GoneIn, REPAIRS, Repair, Upstream};
use super::{ANALYZER, OPTIMIZER, PHYSICAL, SessionRules};

const FILES: &str = "src/upstream";
const TESTS: &str = "tests/behaviour/upstream";
const PAGE: &str = "../../docs/sql.md";
const TEXTS: &str = "../../docs/upstream";

#[test]
fn datafusion_has_the_rules_that_the_tables_name() {
    let rules = SessionRules::new(true).unwrap();
    assert!(rules.analyzer.len() > 6 && rules.optimizer.len() > 20 && rules.physical.len() > 15);
    let without_reads = SessionRules::new(false).unwrap();
    assert_eq!(without_reads.optimizer.len(), rules.optimizer.len() - 3);
}

#[test]
fn rules_have_the_names_of_their_passes() {
    fn check<R: NamedRule + ?Sized>(table: &[Pass<R>]) {
        for pass in table {
            if let Some(rule) = pass.made() {
                assert_eq!(rule.rule_name(), pass.name);
                assert!(!pass.why.is_empty(), "{} has no reason", pass.name);
            }
        }
    }
    check(ANALYZER);
    check(OPTIMIZER);
    check(PHYSICAL);
}

#[test]
fn a_rule_that_is_missing_renamed_or_new_is_an_error() {
    let error = |theirs| arranged(ANALYZER, theirs, true).unwrap_err().to_string();
    let mut missing = Analyzer::new().rules;
    missing.pop();
    assert!(error(missing).contains("it lacks type_coercion"));
    let mut other = Analyzer::new().rules;
    other.swap(0, 1);
    let said = error(other);
    assert!(said.contains("type_coercion in the place of resolve_grouping_function"), "{said}");
    let mut new = Analyzer::new().rules;
    new.push(Arc::new(super::TypeRule));
    assert!(error(new).contains("it has types_as_written at the end"));
}

/// A rule that fails.
#[derive(Debug)]
struct FailingRule(fn() -> DataFusionError);

impl PhysicalOptimizerRule for FailingRule {
    fn optimize(
        &self,
        _: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Err((self.0)())
    }

    fn name(&self) -> &str {
        "failing"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

#[test]
fn only_the_known_error_of_projections_is_passed_over() {
    let run = |error| {
        let plan = Arc::new(EmptyExec::new(Arc::new(Schema::empty()))) as Arc<dyn ExecutionPlan>;
        FallibleProjectionPushdown { inner: FailingRule(error) }
            .optimize(plan, &ConfigOptions::new())
            .map(|plan| plan.name().to_owned())
    };
    assert_eq!(run(other_name).unwrap(), "EmptyExec");
    assert_eq!(run(beyond_the_end).unwrap(), "EmptyExec");
    for other in [
        (|| DataFusionError::Internal("something else".to_owned())) as fn() -> DataFusionError,
        || DataFusionError::ResourcesExhausted("no memory".to_owned()),
        || DataFusionError::Plan("no such column".to_owned()),
    ] {
        assert_eq!(run(other).unwrap_err().to_string(), other().to_string());
    }
}

fn other_name() -> DataFusionError {
    known("Input field name b does not match with the projection expression c")
}

fn beyond_the_end() -> DataFusionError {
    known("PhysicalExpr Column references column 'c' at index 2 (zero-based) but input schema only")
}

fn known(message: &str) -> DataFusionError {
    DataFusionError::Internal(message.to_owned()).context("ProjectionPushdown")
}

/// The head of a file names its repairs, and each file has one.
#[test]
fn files_begin_with_their_issues() {
    for repair in REPAIRS {
        let path = Path::new(FILES).join(repair.file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let line = format!("//! {}", head_of(repair));
        assert!(text.lines().any(|found| found == line), "{path:?} lacks the line:\n{line}");
    }
    let mut without = Vec::new();
    for path in files_below(Path::new(FILES)) {
        let text = fs::read_to_string(&path).unwrap();
        let count = text.lines().filter(|line| line.starts_with("//! Upstream: ")).count();
        let expected =
            REPAIRS.iter().filter(|repair| path == Path::new(FILES).join(repair.file)).count();
        assert_eq!(count, expected, "{path:?}");
        let parts = ["mod.rs", "passes.rs", "repairs.rs", "tests.rs"];
        let is_part = path.parent() != Some(Path::new(FILES))
            || parts.iter().any(|part| path.ends_with(part));
        if count == 0 && !is_part {
            without.push(path);
        }
    }
    assert!(without.is_empty(), "no repair names {without:?}");
}

/// `Upstream: apache/datafusion#1, #2. Gone in: 56`
fn head_of(repair: &Repair) -> String {
    let gone_in = match repair.gone_in {
        GoneIn::Version(version) => version.to_string(),
        GoneIn::Open => "open".to_owned(),
    };
    let upstream = match repair.upstream {
        Upstream::Issues(issues) => {
            let numbers: Vec<_> = issues.iter().map(|issue| format!("#{issue}")).collect();
            format!("apache/datafusion{}", numbers.join(", "))
        }
        Upstream::Unfiled(text) => format!("no issue known: docs/upstream/{text}.md"),
    };
    format!("Upstream: {upstream}. Gone in: {gone_in}")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

#[test]
fn each_repair_is_tested_against_bare_datafusion_or_says_why_not() {
    let sources: String = files_below(Path::new(TESTS))
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for repair in REPAIRS {
        let test = format!("#[test]\nfn {}() {{", repair.name);
        let reason = repair.untested.unwrap_or_default();
        assert_eq!(sources.contains(&test), reason.is_empty(), "{}: {reason}", repair.name);
    }
    let names: BTreeSet<_> = REPAIRS.iter().map(|repair| repair.name).collect();
    assert_eq!(names.len(), REPAIRS.len(), "each repair has a name of its own");
    assert_eq!(sources.matches("#[test]").count(), tested().count(), "each test has its repair");
}

fn tested() -> impl Iterator<Item = &'static Repair> {
    REPAIRS.iter().filter(|repair| repair.untested.is_none())
}

#[test]
fn faults_without_an_issue_have_a_text_to_be_filed() {
    let of = |repair: &Repair| match repair.upstream {
        Upstream::Unfiled(text) => Some(format!("{text}.md")),
        Upstream::Issues(_) => None,
    };
    let wanted: BTreeSet<String> = REPAIRS.iter().filter_map(of).collect();
    let texts = files_below(Path::new(TEXTS));
    let found: BTreeSet<String> =
        texts.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(found, wanted);
    for path in texts {
        let text = fs::read_to_string(&path).unwrap();
        for part in ["# ", "DataFusion 55.2", "```sql", "## Expected", "## Observed"] {
            assert!(text.contains(part), "{path:?} lacks {part}");
        }
    }
}

/// `TONNAGE_REPAIRS=write` writes the table anew.
#[test]
fn the_page_shows_the_repairs() {
    let (begin, end) = ("<!-- repairs: begin -->\n", "<!-- repairs: end -->\n");
    let mut table =
        "\n| DataFusion | Tonnage | upstream | gone in |\n|---|---|---|---|\n".to_owned();
    for Repair { fault, repair, upstream, gone_in, .. } in REPAIRS {
        let gone_in = match gone_in {
            GoneIn::Version(version) => version.to_string(),
            GoneIn::Open => "open".to_owned(),
        };
        let upstream = match upstream {
            Upstream::Issues(issues) => issues.iter().map(link_of).collect::<Vec<_>>().join(", "),
            Upstream::Unfiled(text) => format!("[to be filed](upstream/{text}.md)"),
        };
        writeln!(table, "| {fault} | {repair} | {upstream} | {gone_in} |").unwrap();
    }
    table.push('\n');
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(begin).expect("the page marks where the table begins");
    let (shown, after) = rest.split_once(end).expect("the page marks where the table ends");
    if std::env::var("TONNAGE_REPAIRS").is_ok_and(|mode| mode == "write") {
        fs::write(PAGE, [before, begin, &table, end, after].concat()).unwrap();
        return;
    }
    for (shown, today) in shown.lines().zip(table.lines()) {
        assert_eq!(shown, today, "docs/sql.md (TONNAGE_REPAIRS=write writes it anew)");
    }
    assert_eq!(shown.lines().count(), table.lines().count());
}

fn link_of(issue: &u32) -> String {
    format!("[#{issue}](https://github.com/apache/datafusion/issues/{issue})")
}
