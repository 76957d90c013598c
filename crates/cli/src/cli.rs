//! The command line as a whole.

use clap::Parser;

use crate::args::Globals;
use crate::exit::EXIT_CODES;
use crate::verbs::Verb;

/// A bulk-first store of tables and key/value pairs.
#[derive(Parser)]
#[command(name = "tonnage", version, after_help = EXIT_CODES, max_term_width = 120)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_of_all_verbs_fit_together() {
        super::Cli::command().debug_assert();
    }
}
