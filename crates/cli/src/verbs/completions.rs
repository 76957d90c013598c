//! `tonnage completions` and `tonnage man`: shell completions and the manual page.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use tonnage::Error;

use crate::args::Globals;
use crate::exit::{CliResult, Exit};
use crate::output::LineOutput;

/// Print the completions of a shell
#[derive(Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const COMPLETIONS: &str = "\
Install them for yourself:
  tonnage completions bash > ~/.local/share/bash-completion/completions/tonnage
  tonnage completions zsh > DIR/_tonnage      (DIR is one of $fpath)
  tonnage completions fish > ~/.config/fish/completions/tonnage.fish";

impl CompletionsArgs {
    pub(crate) fn run(&self, mut program: Command) -> CliResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program, "tonnage", &mut script);
        let mut output = LineOutput::stdout();
        output.bytes(&script)?;
        output.finish()?;
        Ok(Exit::Success)
    }
}

/// Print the manual page, or write one for each verb
#[derive(Args)]
#[command(after_help = MAN)]
pub(crate) struct ManArgs {
    /// Write tonnage.1, tonnage-load.1 and so on into this directory
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

const MAN: &str = "\
Examples:
  tonnage man | man -l -
  tonnage man --output-dir ~/.local/share/man/man1";

impl ManArgs {
    pub(crate) fn run(&self, globals: &Globals, program: Command) -> CliResult {
        let Some(directory) = &self.output_dir else {
            let mut page = Vec::new();
            clap_mangen::Man::new(program).render(&mut page)?;
            let mut output = LineOutput::stdout();
            output.bytes(&page)?;
            output.finish()?;
            return Ok(Exit::Success);
        };
        let unwritable = |error: std::io::Error| {
            let message =
                format!("--output-dir {}: cannot be written: {error}", directory.display());
            Error::unavailable(message).with_source(error)
        };
        std::fs::create_dir_all(directory).map_err(unwritable)?;
        clap_mangen::generate_to(program, directory).map_err(unwritable)?;
        globals.info(format_args!("wrote the pages into {}", directory.display()));
        Ok(Exit::Success)
    }
}
