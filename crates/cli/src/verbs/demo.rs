//! demo placeholder
use crate::args::Globals;
use crate::exit::{Exit, Outcome};
use clap::Args;
/// Runs the demo
#[derive(Args)]
pub(crate) struct DemoArgs {}
impl DemoArgs {
    pub(crate) fn run(&self, _: &Globals) -> Outcome {
        Ok(Exit::Well)
    }
}
