//! The pages that newcomers follow say what the program does today.
//!
//! Each command of `docs/tour.md` runs in one directory, in order, and prints what the page shows,
//! times and rates aside. `TONNAGE_TOUR=write` writes what was printed into the page instead.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The root of the checkout.
fn root() -> PathBuf {
    std::path::absolute("../..").unwrap()
}

/// A directory that looks like the root of a checkout, with `tonnage` on the path.
struct Walk(TempDir);

impl Walk {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root().join("docs"), directory.path().join("docs")).unwrap();
        Self(directory)
    }

    /// What a command prints on both outputs, and whether it succeeded.
    fn run(&self, command: &str) -> (String, bool) {
        let program = Path::new(env!("CARGO_BIN_EXE_tonnage")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let script = format!("exec 2>&1\n{command}");
        let run = Command::new("bash")
            .args(["-c", &script])
            .current_dir(self.0.path())
            .env("PATH", path)
            .env_remove("TONNAGE_STORE")
            .output()
            .unwrap();
        (String::from_utf8(run.stdout).unwrap(), run.status.success())
    }
}

/// The page again, with what its commands print today.
fn walked(page: &str) -> String {
    let walk = Walk::new();
    let (mut text, mut in_console) = (String::new(), false);
    for line in page.lines() {
        match line {
            "```console" => in_console = true,
            "```" => in_console = false,
            _ => {}
        }
        let is_output = in_console && line != "```console" && !line.starts_with("$ ");
        if is_output {
            continue;
        }
        text.push_str(line);
        text.push('\n');
        if let Some(command) =
            line.strip_prefix("$ ").filter(|command| !command.starts_with("export "))
        {
            let (printed, _) = walk.run(command);
            text.push_str(&printed);
        }
    }
    text
}

/// A line without what differs from run to run: seconds, rates, versions.
fn steady(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_measured = |position: usize| {
        let number = words[position].trim_start_matches('(');
        let is_number =
            !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || ",.".contains(c));
        let before = position.checked_sub(1).map(|before| words[before]);
        let after = words.get(position + 1).copied().unwrap_or_default();
        is_number && (["s", "s)", "s:", "rows/s)"].contains(&after) || before == Some("version"))
    };
    let word = |position: usize| if is_measured(position) { "#" } else { words[position] };
    (0..words.len()).map(word).collect::<Vec<_>>().join(" ")
}

fn steady_lines(text: &str) -> Vec<String> {
    text.lines().map(steady).collect()
}

#[test]
fn the_tour_shows_what_the_program_prints() {
    let path = root().join("docs/tour.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let today = walked(&page);
    if std::env::var("TONNAGE_TOUR").is_ok_and(|mode| mode == "write") {
        std::fs::write(&path, today).unwrap();
        return;
    }
    for (number, (shown, printed)) in
        steady_lines(&page).iter().zip(steady_lines(&today)).enumerate()
    {
        let line = number + 1;
        assert_eq!(
            *shown, printed,
            "docs/tour.md, line {line} (TONNAGE_TOUR=write writes it anew)"
        );
    }
    assert_eq!(page.lines().count(), today.lines().count());
}

#[test]
fn the_commands_of_the_readme_succeed() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (walk, commands) = (Walk::new(), page.lines().filter_map(|line| line.strip_prefix("$ ")));
    let mut count = 0;
    for command in commands {
        let (printed, succeeded) = walk.run(command);
        assert!(succeeded && !printed.is_empty(), "{command}\n{printed}");
        count += 1;
    }
    assert_eq!(count, 3);
}

/// The pages had the store before the command, after it, in a variable, and as the first word of a
/// shell.
#[test]
fn the_pages_name_the_store_behind_the_command() {
    let pages = std::fs::read_dir(root().join("docs")).unwrap().map(|page| page.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    for path in pages.chain([root().join("README.md")]) {
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let is_other = ["tonnage --store", "export TONNAGE_STORE", "TONNAGE_STORE="]
                .iter()
                .any(|form| line.contains(form));
            assert!(!is_other, "{}: {line}", path.display());
        }
    }
}

#[test]
fn what_differs_from_run_to_run_is_left_out() {
    let line = "positions: 24 read, 24 inserted, in 0.1 s (967,126 rows/s)";
    assert_eq!(steady(line), "positions: 24 read, 24 inserted, in # s # rows/s)");
    assert_eq!(steady("row 0: stored as version 4000001"), "row 0: stored as version #");
}
