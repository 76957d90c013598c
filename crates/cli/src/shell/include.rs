//! `\i`: executes statements and commands from a file.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::statement_buffer::StatementBuffer;
use super::{Shell, ShellFlow};

/// Files that name each other would continue for ever.
const DEPTH_MAX: usize = 16;

impl Shell {
    /// Carries out a file up to the first thing that fails. Of the file no more than a statement is
    /// held.
    pub(super) fn include(&mut self, path: &Path) -> ShellFlow {
        let name = path.display().to_string();
        if self.reading.len() >= DEPTH_MAX {
            return self.report_error(format_args!(
                "{name}: files that read files may go {DEPTH_MAX} deep"
            ));
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                return self.report_error(format_args!("{name}: cannot be read: {error}"));
            }
        };
        self.reading.push(name);
        let flow = self.execute_lines(BufReader::new(file));
        self.reading.pop();
        flow
    }

    fn execute_lines(&mut self, lines: impl BufRead) -> ShellFlow {
        let mut assembly = StatementBuffer::default();
        for line in lines.lines() {
            let line = match line {
                Ok(line) => line,
                Err(error) => return self.report_error(format_args!("cannot be read on: {error}")),
            };
            if let Some(unit) = assembly.push(&line) {
                let flow = self.execute(&unit);
                if flow != ShellFlow::Continue {
                    return flow;
                }
            }
        }
        // The last statement of a file needs no semicolon.
        assembly.take().map_or(ShellFlow::Continue, |unit| self.execute(&unit))
    }
}
